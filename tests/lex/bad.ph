a $$ b # "open
été 1..2 "\q" 99999999999999999999
// ----
1:1 name 'a'
1:3 error
1:6 name 'b'
1:8 error
1:10 error
1:15 newline
2:1 error
2:5 error
2:10 string 'q'
2:15 int 0
2:35 newline
2:35 eof
1:3 PH101
1:8 PH101
1:10 PH103
2:1 PH101
2:5 PH105
2:11 PH104
2:15 PH106
