0 42 1_000 007 0x2a 0xFF_ff 18446744073709551615 0xffffffffffffffff
7. 2.5 1.0e-5 1e5 7.e+2 1_0.5 1E3
A[7.:+4] -1 0x1e+5
// ----
1:1 int 0
1:3 int 42
1:6 int 1000
1:12 int 7
1:16 int 42
1:21 int 65535
1:29 int 18446744073709551615
1:50 int 18446744073709551615
1:68 newline
2:1 float 7.0
2:4 float 2.5
2:8 float 1e-05
2:15 float 100000.0
2:19 float 700.0
2:25 float 10.5
2:31 float 1000.0
2:34 newline
3:1 name 'A'
3:2 [
3:3 float 7.0
3:5 :+
3:7 int 4
3:8 ]
3:10 -
3:11 int 1
3:13 int 30
3:17 +
3:18 int 5
3:19 newline
3:19 eof
