kernel fn let var if else for in while break continue return true false
tensor tile range unroll ctx f32 _x x_1 Kernel
// ----
1:1 kernel
1:8 fn
1:11 let
1:15 var
1:19 if
1:22 else
1:27 for
1:31 in
1:34 while
1:40 break
1:46 continue
1:55 return
1:62 true
1:67 false
1:72 newline
2:1 name 'tensor'
2:8 name 'tile'
2:13 name 'range'
2:19 name 'unroll'
2:26 name 'ctx'
2:30 name 'f32'
2:34 name '_x'
2:37 name 'x_1'
2:41 name 'Kernel'
2:47 newline
2:47 eof
