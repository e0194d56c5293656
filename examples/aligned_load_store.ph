// run: scalar_kernel N=1048576 size=1048576 grid=4096 tol=0
// run: unaligned_kernel N=1048576 size=1048576 grid=1024 tol=0
// run: aligned_kernel N=1048576 size=1048576 grid=1024 tol=0

// output = a * 2 + 1 three times over, with per-thread code. The kernels differ only in how a thread touches memory.

// One element per thread.
kernel scalar_kernel(output: tensor<f32>[N], a: tensor<f32>[N], size: i32) {
  let i = ctx.block.x * ctx.threads + ctx.thread
  if i < size {
    output[i] = a[i] * 2.0 + 1.0
  }
}

// Four elements per thread, of which only the alignment of a single one is stated: four accesses.
kernel unaligned_kernel(output: tensor<f32>[N], a: tensor<f32>[N], size: i32) {
  let base = (ctx.block.x * ctx.threads + ctx.thread) * 4
  if base + 4 <= size {
    let v = elem(a[base :+ 4], align = 4)
    store(output[base :+ 4], v * 2.0 + 1.0, align = 4)
  }
}

// Four elements per thread at a multiple of four, which is proved: one access of 16 bytes.
kernel aligned_kernel(output: tensor<f32>[N], a: tensor<f32>[N], size: i32) {
  let base = (ctx.block.x * ctx.threads + ctx.thread) * 4
  if base + 4 <= size {
    let v = elem(a[base :+ 4])
    store(output[base :+ 4], v * 2.0 + 1.0)
  }
}
