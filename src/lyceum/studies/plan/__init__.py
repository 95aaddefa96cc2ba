"""What a study is to do: recipe, data, candidates, folds."""
