import { StorageSuite } from "@wac/testkit"
import { Effect, Layer } from "effect"
import { inject } from "vitest"
import { PostgresStorage } from "../src/index.ts"
import { freshDatabase } from "./servers.ts"

for (const { name, url } of inject("postgresServers")) {
  StorageSuite.suite(
    name,
    Layer.unwrap(Effect.map(freshDatabase(url), (url) => PostgresStorage.layerServer({ url })))
  )
}
StorageSuite.suite("PGlite", PostgresStorage.layerEmbedded({}))
