’)¢
ú
€	SparseTensorSpec 