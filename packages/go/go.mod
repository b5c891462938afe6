module github.com/kafka-shim/kafka-shim/packages/go

go 1.23
