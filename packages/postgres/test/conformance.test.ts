import { StorageSuite } from "@wac/testkit"
import { Effect, Layer } from "effect"
import { PostgresStorage } from "../src/index.ts"
import { freshDatabase } from "./servers.ts"

StorageSuite.suite(
  "PostgreSQL",
  Layer.unwrap(Effect.map(freshDatabase(), (url) => PostgresStorage.layerServer({ url })))
)
StorageSuite.suite("PGlite", PostgresStorage.layerEmbedded({}))
