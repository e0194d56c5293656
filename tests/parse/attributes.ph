@pipeline @dynshared
@launch(256, 2, 96) @persistent
@autotune(X in [16, 256], Y in [64], Z = 3)
@aligned(M = X,
         N = 24)

@tensorcore(sync)
@precise(true, false, 1.5)
// a comment between
@anything(mode = fast, scale = 2.0, on = true)
kernel f() {}
// ----
(program
  [(kernel f
      [(attribute pipeline false)
        (attribute dynshared false)
        (attribute launch [(attrarg value value=256) (attrarg value value=2) (attrarg value value=96)] true)
        (attribute persistent false)
        (attribute autotune
          [(attrarg in name=X [16 256]) (attrarg in name=Y [64]) (attrarg set name=Z value=3)]
          true)
        (attribute aligned [(attrarg set name=M value=X) (attrarg set name=N value=24)] true)
        (attribute tensorcore [(attrarg value value=sync)] true)
        (attribute precise
          [(attrarg value value=true) (attrarg value value=false) (attrarg value value=1.5)]
          true)
        (attribute anything
          [(attrarg set name=mode value=fast)
            (attrarg set name=scale value=2.0)
            (attrarg set name=on value=true)]
          true)]
      (block))])
