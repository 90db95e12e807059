# SPDX-License-Identifier: GPL-3.0-or-later
"""Optimizations that were tried and rejected, since they cost more than they gained; sentences for the page."""

from __future__ import annotations

REJECTED_IDEAS: tuple[str, ...] = (
    "Products that read the upper half of the matrix in place, between the lower blocks: 8.3 to 8.6 ms at 400K tets on "
    "one thread; whole rows take 8.0 to 8.3 ms. The processor fetches the skipped cache lines anyway. The packed upper "
    "half takes 4.8 to 5.6 ms.",
    "Whole rows instead of the packed upper half at 10K tets: a solve on two threads takes 3.57 instead of 3.31 ms.",
    "Multigrid matrices in bfloat16 instead of 16-bit fixed point: as fast, with as many iterations for bars and "
    "plates. A rod of 1 × 1 × 100 needs 184 iterations instead of 130 at ν = 0.45 (123 in 32 bits), and 631 instead of "
    "303 at ν = 0.49.",
    "Multigrid matrices in 32 bits: an iteration at 400K tets takes 6.0 instead of 4.4 ms. They pay off where a ball "
    "inside a bar is ten thousand times stiffer than the rest: 79 iterations instead of 111. At a hundred times, the "
    "most that an artist can paint, both need 43.",
    "Adding only the symmetric part of a row's rounding error to its diagonal, which keeps the cycle symmetric: the "
    "same rod needs 253 iterations in bfloat16.",
    "Aligning the work space of coarse matrix rows to cache lines: setting up the levels at 100K tets takes 8.7 to "
    "11.7 instead of 8.6 to 10.8 ms.",
    "Summing every other block of a row separately, so that no addition waits for the previous one: a product at 10K "
    "tets, in 32 bits at the time, took 30.6 instead of 32 µs. But the zero blocks of patterns that contacts have "
    "widened then change bits.",
    "One loop per task of a cycle instead of a loop that branches on each row: 173 instead of 180 µs at 10K tets on "
    "one thread. Solves and the set-up of the levels did not get faster.",
    "Packing the upper half only after eight products of a multigrid solve: packing costs what three products gain at "
    "10K tets and seven at 100K, and most solves are longer.",
    "Estimating the largest eigenvalue of the finest level for the smoother from the norm of the whole vector: with "
    "one flat tet in 10K, 198 iterations instead of 27. Windows of eight rows detect that tet: 23.",
    "Two smoothing steps on the second-finest level, as on the levels above it: at ν = 0.45, 22 iterations in 5.71 ms "
    "instead of 24 in 5.53 ms at 10K tets, 25 in 273 ms instead of 26 in 263 ms at 400K.",
    "Keeping sums per edge in the processor's cache for hyperelastic tets, in chunks of 512 or 1,024: 60 to 69 instead "
    "of 62 to 64 ms for the bar of 10K tets.",
    "Neo-Hookean tets without singular values where clamping would change nothing: energies, forces and blocks take "
    "44, 75 and 143 instead of 88, 113 and 190 ns per tet on one thread. But the bar of 10K tets took 7 % less on two "
    "threads and 12 % less on one, the bar of 100K tets 0 and 5 % more, and flesh took 2 to 4 s longer to compile.",
    "Vectors of 512 instead of 256 bits for hyperelastic tets: 310 instead of 292 ns per tet. Square roots and "
    "divisions set the pace.",
    "Chunks of 1,664 or 2,464 instead of 1,024 tets for passes over 10K hyperelastic tets on two threads: 2.25 to "
    "2.54 ms; 1,024 is fastest.",
    "Three Newton iterations instead of four for the quasistatic bar: after three, exact solves leave a residual of "
    "2.0e-6; the target is 1e-6.",
    "Aligning the records of tets to cache lines: 60.6 instead of 60.3 ns per tet.",
    "Transforming render positions to object space in NumPy chunks: 6.4 ms for 200,000 points; a kernel takes 1.6 ms.",
    "LLVM's optimization level 1 instead of 3: compilation takes 27.9 instead of 27.4 s.",
    "Comparing Numba's flags by one text, and only those that functions inherit: the first step takes 13.6 instead of "
    "15.4 s of processor time on a busy machine. It is thirty lines in Numba's insides for a second, once, of those "
    "whose zip has no kernels.",
    "Two indices instead of rows as arrays of their own in kernels: the sums of conjugate gradients compile in 0.134 "
    "instead of 0.137 s, a kernel of four assignments in 0.016 s either way.",
    "A cache of resolved calls in Numba's type inference: compilation takes an eighth less processor time, relative to "
    "LLVM's part, but a first click is no faster.",
    "No reference counting in any kernel that allocates no arrays: compilation takes 17.4 instead of 18.2 s. Sinew "
    "does this where threads share out passes, and in kernels of a body that falls.",
    "Other laws from a random scatter, on bars of 3 × 3 × 30 cells held at both ends: neo-Hookean with the constant "
    "extension brought 8 of 12 back untwisted, without λ 11 of 12, the corotated law without λ 40 of 50, and with "
    "weighted rotations, which Sinew uses, 50 of 50. Laws with an energy everywhere (neo-Hookean with smooth functions "
    "of J, stable neo-Hookean, corotated with λ), which had to fall at every step, stalled in 10 of 10 with a fifth "
    "to half of the tets inverted. The likely cause: J is in the thousands, and its term falls fastest where the "
    "shortest axis is pulled through zero.",
    "Beginning a pose also where flesh would be if it sped up as it did: nodes of a curling muscle are 0.06 to 0.3 mm "
    "from their rest there, with uniform motion 0.2 to 0.5 mm, and the energy is lower. But frames take 125 instead of "
    "108 Newton iterations: what is left is in stiff directions, and first steps are cut to a tenth.",
    "True tangents of muscles at any residual: 106 instead of 108 iterations of the same curl, in 7 % more processor "
    "time, since conjugate gradients give up on a tangent that is not definite.",
    "Linear solves of muscles to 3e-4 or to 0.03 instead of 0.01: 113 and 116 instead of 108 Newton iterations, in 33 "
    "and 4 % more processor time.",
    "Multigrid levels of one Newton iteration for the next ones: 111 instead of 108, in 7 % more processor time; a "
    "set-up costs as much as ten cycles.",
    "Block Jacobi alone for the linear systems of muscles: 2.9 times the processor time of multigrid.",
    "Counting points near colliders in the tangent of flesh, without a force, so that no step falls through a bone: "
    "112 instead of 108 iterations in the first tangents of solves alone, 198 in all tangents within the length of the "
    "last step.",
    "Taking contacts for a second linear solve from the end of a step that a line search cut: 110 instead of 108 "
    "iterations.",
    "Leaving points of flesh out of searches for the tets that contain them until nodes have moved as far as the next "
    "tet is away: between two searches of a curl nodes move by 0.2 to 0.5 mm, and most points are nearer than that to "
    "a tet beside theirs. 187 searches take 1.81 instead of 1.13 s, with the same results.",
    "Beginning the search for the closest place on a bone with the triangle of the last search, or of the point "
    "before: 1.35 and 1.33 instead of 1.42 µs a point. The nearer child of each box is looked at first anyway.",
    "Two smoothing steps on all levels for muscles: six linear systems of 10K to 26K tets take 350 instead of 584 "
    "iterations in 9 % less processor time, while matrices hardly exceed the caches. Each iteration reads half as "
    "much memory again.",
    "Smoothers of muscles for eigenvalues down to a twenty-fourth instead of a twelfth of the largest: 555 instead of "
    "584 iterations for the same six systems, in 5 % less processor time, as much as the machine's noise.",
    "Huge pages for the packed upper half and the levels of multigrid: 2.46 instead of 2.49 ms an iteration of "
    "multigrid, 0.84 ms either way of block Jacobi, at 26K tets of muscle.",
    "Step lengths of their own for muscles that touch, each cut while its own energy rises: Solve This Frame of the "
    "arm takes 155 instead of 124 Newton iterations at frame 20, 49 instead of 41 at frame 5. What one muscle "
    "would need less, its neighbours need more.",
    "Fewer poses on the way of Solve This Frame: with four instead of eight the arm takes 225 instead of 99 Newton "
    "iterations at frame 20, and 48 instead of 23 s of processor time. Sixteen, at rest to 0.5, take 80 iterations; "
    "twelve, at rest to 0.3, take 65.",
    "Contacts between muscles as planes where two of them chatter (the long head of the biceps and the brachialis, "
    "from the 25th iteration of a pose on): without the curvature of what it lies on the muscle slides on, and its "
    "residual rises from 0.006 to 0.1. With attachments as planes the solve takes 46 instead of 58 iterations.",
    "A better stiffness of each hinge of a sheet alone: that of the plate is 0.33 to 3.3 times its own diagonal, 0.5 "
    "to 5.1 times one over the diagonal of its flexibility, and 0.19 to 2.0 times what hinges have (leather on a grid "
    "of 8 × 6). Factored sparse inverses of the flexibility come to 0.68 to 2.1 on neighbours, 0.84 to 1.4 on theirs "
    "too, but join nodes that share no tet.",
    "Bending solved to 3 or 10 % of the residual instead of as far as all else: 320 and 384 instead of 316 Newton "
    "iterations of draped leather, in as much processor time.",
    "Closest places of sliding links kept on all faces that a point went to and fro between in the last eight "
    "evaluations, each with its share of the stiffness: a biceps in its fat takes 38 and 36 instead of 35 and 38 "
    "Newton iterations in the two frames where it slides along creases, and ends as far from its rest as with one "
    "face.",
    "Whole steps in the first iteration of a muscle's solve, where the line search cuts it since it passes through a "
    "bone: 66 instead of 76 iterations of Solve This Frame at frame 20 of the arm, but 164 instead of 110 in the curl "
    "of one muscle, which takes 38 instead of 6 where it first touches.",
    "Fewer starts of a pose among which the energy chooses: with links alone 77, with the uniform motion alone 74, "
    "with both 109, with motion and half of it 85 instead of 76 iterations at frame 20 of the arm. They differ by "
    "what the last pose takes, 16 to 54.",
    "Looser brackets for steps in contact: 71 to 90 instead of 76 iterations there, in 16.0 to 17.9 instead of 17.1 s "
    "of processor time.",
    "Six, eight or 24 poses instead of twelve on the way of Solve This Frame, at rest to 0.3 to 0.99: 69 to 85 "
    "iterations instead of 76 at frame 20, in 12.9 (six, to 0.6) to 18.7 s (24) of processor time instead of 16 to "
    "17. Measured again at more frames, six, eight and twelve poses at rest to 0.3 take 10.7, 11.5 and 12.4 s at "
    "frame 10, 13.1, 15.5 and 15.6 s at frame 20, and 17.3, 15.7 and 14.6 s at frame 30; to 0.6, six take 12.2, 13.3 "
    "and 31.6 s, eight 11.6, 15.6 and 19.2 s. All end at rest. At frame 5 there are four poses at most, and one "
    "muscle goes by none.",
    "L-BFGS for muscles with the tangent of a solve's start, solved to 0.01, as its first approximation: in frame 9 "
    "of the curl the residual is 7e-3 after 100 iterations with five pairs of steps, 3e-2 without any; Newton's "
    "method has 1e-3 after 14. An iteration without a tangent saves 9 of 42 ms.",
    "Tangents of those tets of muscles alone that have deformed since their last one: between two tangents of the "
    "curl F changes by more than 0.003 in 63 % of the tets, by more than 0.01 in 32 %. With the coarser bound that "
    "saves at most a seventh of an iteration.",
    "One Newton iteration a frame in place of a pose at rest, as one implicit step of heavy damping would be: the "
    "curl of one muscle takes 5.2 instead of 9.1 s of processor time (two iterations in most frames, since penalties "
    "are raised), and is 4 to 8 % of its size off the poses in the mean from its twentieth frame on, up to 10 %. With "
    "two (four): 8.3 s and 3 to 5 %.",
    "A start of a pose from a solve on a coarse lattice that contains the nodes: with its motion of the frame, of "
    "1,313 instead of 10,171 tets, the curl of one muscle takes 191 instead of 94 Newton iterations, and 104 if the "
    "energy chooses between it and the other starts; the lattice's own frames take half the time of the curl. It "
    "leaves 16 to 60 % of the motion of most frames, and more where the muscle is pressed most.",
    "Any better start: the curl takes 117, 75, 52 and 43 instead of 110 iterations where frames begin with 30, 10, 3 "
    "and 1 % of their motion left, taken from a run before, 5, 4, 2 and 2 in most frames that move. With the motion "
    "of the last frame relative to bones as one more start 111, with its change too 131, and 122 if contacts and "
    "stretch limits of the pose before count in the first tangent. Its energy is lower, but what is left lies in "
    "contacts and limits that it has opened or closed, and steps are cut there. Frames 2 and 3 of the arm with "
    "148,173 tets take 10 and 9 instead of 19 iterations with 10 and 1 % left, and 474 and 617 instead of 991 of "
    "conjugate gradients.",
    "Stiffness of points that were in bones in the pose before, without the force that draws them back: 115 instead of "
    "110 iterations of the curl; with it 98. With it for two or three linear solves 97, for nine 108.",
    "Stiffness of tets beyond their stretch limit in the pose before, in the first tangent of the next: as many "
    "iterations as without. Of those beyond it in the iteration before, in every tangent: 101 to 129 instead of 98.",
    "First linear solves of a pose to 1e-3 and 1e-4 instead of 0.01: 99 and 98 instead of 98 iterations of the curl, "
    "with 13 and 26 % more iterations of conjugate gradients: it is not the linear solves that leave four iterations "
    "in most frames. True tangents from residuals of 0.03 and 0.1 on instead of 0.01: 98 and 97.",
    "The packed upper half of muscles in 32 bits, a quarter less memory for an iteration of multigrid: 0.69 instead "
    "of 0.66 ms at 10,171 tets on one thread, 7.6 instead of 7.1 ms at 148,173. To widen the numbers takes as long as "
    "to read them, and two thirds of an iteration are the cycle, whose matrices have 16 bits already.",
    "Tangents of muscles in 32 bits: singular values, which are computed eight tets at a time, are a tenth of the "
    "time of the curl, but two of three passes over tets are for forces and energies, which Newton's method needs in "
    "64 bits; the projection to definite tangents is a twentieth. Twice as fast, both would save a twenty-fifth.",
    "A sparse factorization of the tangent of one muscle as the preconditioner of the frames that follow: SuperLU "
    "takes 0.57 s for its 7,062 unknowns (3.3 million numbers) and 8.8 ms a solve, 13 cycles of multigrid. As a "
    "preconditioner it takes 18 to 40 iterations in its own and the next frame, and 50 to 88 five frames later; "
    "multigrid takes 10 to 50.",
    "No halves of steps among pieces that tumble over each other: 2.5 instead of 8 s a frame of 165 pieces, but "
    "points end up to 0.18 instead of 0.11 tets deep once the heap lies, and hardly a step settles. The egg's "
    "pieces then take ten solves in every step to the end of the scene.",
    "Five instead of ten solves for pieces whose friction alone still changes: 140 and 149 instead of 181 solves in "
    "two frames of 165 pieces, in as much processor time; a crushed bar broke into two pieces, where its test asks "
    "for four.",
    "Constant friction in the first solve of pieces at rest, as other bodies have it, instead of springs: 33 to 40 "
    "instead of 32 or 33 solves a frame.",
    "Incomplete Cholesky's factors of pieces that touch, without fill: 97 to 165 instead of 88 to 174 iterations of "
    "conjugate gradients in three systems of a heap, since many pivots come out below zero. Sweeps of symmetric "
    "Gauss-Seidel in each piece: 49 to 92. Whole factors, which Sinew uses, 28 to 50.",
    "Newton's method for contacts and friction of pieces with their planes as they are, between two searches: sliding "
    "contacts as a constant friction and a spring across it, and a line search over both. Pieces of a crack have some "
    "hundred contacts that nearly all slide; steps are cut to 0.05 to 0.5, and the first ten frames of a heap take "
    "150 to 1,400 instead of 45 to 211 solves a frame.",
    "Newton's method for the pieces of a heap as rigid ones, before the first solve of each step: 148 instead of "
    "150 to 170 solves in a frame of 150 pieces. Which contacts push depends on how pieces and their own cracks "
    "give way.",
    "Up to 18 instead of ten solves in steps of pieces, and parts of steps as short as in the frame before: 108, "
    "112, 82, 88 and 89 instead of 127, 111, 88, 124 and 89 solves in frames 4 to 8 of that heap, and more later.",
    "Conjugate gradients to 1e-7 instead of 1e-4 in a heap: as many contacts are wrong after each solve.",
    "Islands that touched something in one solve of a step no longer turned as free ones in the others: 167 "
    "instead of 170 solves.",
    "Contacts of small pieces one after the other (Gauss-Seidel, with exact friction cones) on dense inverses of "
    "single pieces, before each solve: 760 instead of 1,317 solves in eleven frames of 70 to 88 pieces, and 34 "
    "instead of 33 s of processor time, since this takes as long as a solve. With a piece of some hundred nodes "
    "in their group, 98 and 159 instead of 45 and 106 solves in the first two frames of 150 pieces.",
    "Four sums at once and vectors of three in the coarse solve of a heap: 0.14 to 0.15 instead of 0.15 to 0.18 ms "
    "an iteration of conjugate gradients with 170 pieces, no more than the machine's noise.",
    "Multigrid by bodies for those that touch: with exact solutions of single bodies beside the rigid motions of all, "
    "which no cycle surpasses, conjugate gradients take 98 instead of 115 iterations for three stacked blocks of jelly "
    "with 11,000 tets, and 105 instead of 108 where they are a hundred times as stiff. Each side of a contact is held "
    "where the other should give way.",
    "Multigrid for bodies that touch below 15,000 nodes, or where they are soft: three stacked blocks with 41,000 tets "
    "take 114 and 100 ms a solve instead of 107 and 94 with block Jacobi and aggregates, at 3 and 10 MPa. With 74,000 "
    "tets of 0.1 MPa 168 instead of 136 ms. A body of 38,000 tets that touches itself takes 60 to 142 instead of 48 to "
    "82 ms. In two levels with those aggregates as its smoother, a solve takes 9 or 10 cycles; not built.",
    "Pieces of glass that sleep once each of a group has rested for a quarter of a second: in a heap of 300, "
    "splinters between pieces, and contacts that push depth out, had moved 161 to 290 of some 295 faster than "
    "0.005 √(g L) within the last quarter of a second, in 14 frames from the tenth to the 36th, and 4 slept after "
    "36 frames. By the mean over masses 297 sleep after 12.",
    "Bounds of rest of 0.001 and of 0.005 √(g L) for whole rigid bodies, too, instead of 0.0001: with both a "
    "stone that leans on two others fell where a simulation began from where it slept, with the second 0.07 mm "
    "from where it comes to rest.",
    "Whole factors of the blocks of 300 rigid pieces, counted and not built: with the 850 to 1,640 of 1,320 to "
    "1,790 pairs that push, in order of minimum degree, each of Newton's iterations needs 11,000 to 33,000 "
    "products of blocks of 6×6, 5 to 14 million multiplications and additions, with up to 34 blocks in a column, "
    "where 24 fit. All iterations of a solve take 14 to 100 ms now.",
)
