"""Sound texts of every format, from which the fuzzer of texts makes damaged ones."""

__all__ = ["SAMPLES"]

SAMPLES: dict[str, tuple[str, ...]] = {
    "csv": (
        "a,b,c\n1,red,2020-01-01\n2.5,blue,\n,NA,2021-12-31\n",
        'name;size\n"a;b";1\n"say ""x""";2\n"line\nbreak";3\n',
        "x\ty\n1\ttrue\n0\tfalse\n",
        "x|y\r\n9007199254740993|1\r\n-1|1e3\r\n",
        "when,t\n2020-01-01 10:00:00,10:00\n2020-01-01T10:00:00Z,11:00\n",
    ),
    "arff": (
        (
            "@relation r\n@attribute a numeric\n@attribute b {red,'a"
            " b',blue}\n@data\n1,red\n?,blue\n2,'a b'\n"
        ),
        (
            "% comment\n@RELATION 'a b'\n@ATTRIBUTE x REAL\n@ATTRIBUTE y {0,1}\n@DATA\n{0 1.5, 1"
            " 1}\n{}\n{1 1}\n"
        ),
        (
            "@relation d\n@attribute when date 'yyyy-MM-dd'\n@attribute s"
            " string\n@data\n2020-01-01,'x y'\n?,?\n"
        ),
        "@relation w\n@attribute i integer [0,10]\n@attribute c {a,b}\n@data\n1,a\n2,b\n",
    ),
    "json lines": (
        '{"a": 1, "b": "red"}\n{"a": null, "b": "blue"}\n{"a": 2.5, "b": "red"}\n',
        '{"x": true, "y": 9007199254740993}\n\n{"y": -1e3}\n',
        '[{"s": "caf\\u00e9", "t": "2020-01-01"}, {"s": "", "t": "x"}]\n',
    ),
    "bif": (
        (
            "network n {\n}\nvariable a {\n type discrete [ 2 ] { yes, no };\n}\n"
            "probability ( a ) {\n table 0.2, 0.8;\n}\n"
        ),
        (
            'variable a { type discrete { t, f }; }\nvariable "b c" { type discrete [3] { x, "y z",'
            ' 1 }; }\nprobability (a) { property p; table 0.5 0.5; }\nprobability ("b c" | a) { (t)'
            " 0.1 0.2 0.7; default 1 0 0; } // end\n"
        ),
        (
            "variable a { type discrete [2] {t,f}; }\nvariable b { type discrete [2] {t,f}; }\n"
            "probability (a) { table .3,.7; }\nprobability (b|a) { table .1,.2,.9,.8; } /* c */\n"
        ),
    ),
    "loss": (
        "true,bad,good\nbad,0,5\ngood,1,0\n",
        ",a,b,doubt\na,0,1,0.3\nb,2,0,0.3\n",
        '"",1,2\n1,0,1\n2,1,0\n',
    ),
    "loss in toml": (
        'loss = [[0, 5], [1, 0]]\nclasses = ["bad", "good"]\n',
        "default = 1.0\n[costs.bad]\ngood = 5\n[costs.good]\nbad = 1\n",
        'loss = [[0, 1, 0.3], [1, 0, 0.3]]\nclasses = [1, 2]\nactions = [1, 2, "doubt"]\n',
    ),
    "recipe": (
        'data = "credit.csv"\ntarget = "class"\nfolds = 10\nseed = 3\nholdout = 0.2\n',
        (
            'data = ["a.csv", "b.csv"]\ntarget = "y"\nignore = ["id"]\nkeep = ["n"]\nweight = "w"\n'
            'budget_minutes = 2.5\nlearners = ["NaiveBayes"]\n[kinds]\nage = "continuous"\n'
        ),
        (
            'data = "d.csv"\ntarget = "y"\ndoubt = 0.3\nchoose = "best"\n[[learners]]\nname ='
            ' "Ridge"\nsettings = {alpha = 1.0}\n[[learners]]\nname ='
            ' "Lasso"\n[learners.search]\nalpha = {low = 0.01, high = 10.0, scale = "log"}\n'
        ),
        (
            'data = "d.csv"\ntarget = "y"\nrepeats = 2\ninner_folds = 5\nbootstrap_632 ='
            ' true\nmemory_mb = 100\n[loss]\nclasses = ["bad", "good"]\nloss = [[0.0, 5.0], [1.0,'
            " 0.0]]\n"
        ),
    ),
    "value": (
        "0.5",
        "[1, 2]",
        '["a"]',
        "true",
        "None",
        "red",
        '{a = 1, b = "x"}',
        "2020-01-01",
        "[[0, 1], [1, 0]]",
    ),
}
