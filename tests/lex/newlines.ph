name
1 2.0 true
"text" // comment
f(a
, b
) [ c
]
a +
b
{ return
}
break; continue
// ----
1:1 name 'name'
1:5 newline
2:1 int 1
2:3 float 2.0
2:7 true
2:11 newline
3:1 string 'text'
3:7 newline
4:1 name 'f'
4:2 (
4:3 name 'a'
5:1 ,
5:3 name 'b'
6:1 )
6:3 [
6:5 name 'c'
7:1 ]
7:2 newline
8:1 name 'a'
8:3 +
9:1 name 'b'
9:2 newline
10:1 {
10:3 return
10:9 newline
11:1 }
11:2 newline
12:1 break
12:6 ;
12:8 continue
12:16 newline
12:16 eof
