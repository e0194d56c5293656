let SIZE = 16 //~ PH128

kernel f(A: tensor<f32>[N]) {
}
} //~ PH128

fn g() { }
foo(1) //~ PH128
