  a	= "q\"\n\t\\"
// only a comment
// ----
1:3 name 'a'
1:5 =
1:7 string 'q"\n\t\\'
1:18 newline
1:18 eof
