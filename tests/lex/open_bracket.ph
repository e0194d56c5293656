x = f(a, (b
let y = A[1
var z = 2
g(
kernel k() {
// ----
1:1 name 'x'
1:3 =
1:5 name 'f'
1:6 (
1:7 name 'a'
1:8 ,
1:10 (
1:11 name 'b'
1:12 newline
2:1 let
2:5 name 'y'
2:7 =
2:9 name 'A'
2:10 [
2:11 int 1
2:12 newline
3:1 var
3:5 name 'z'
3:7 =
3:9 int 2
3:10 newline
4:1 name 'g'
4:2 (
5:1 kernel
5:8 name 'k'
5:9 (
5:10 )
5:12 {
5:13 eof
