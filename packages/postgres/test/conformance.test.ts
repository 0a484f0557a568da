/**
 * The conformance suites on every PostgreSQL of this run, and behind a pooler.
 */
import { describe } from "@effect/vitest"
import * as Extent from "@wac/testbed/Extent"
import * as PgBouncer from "@wac/testbed/PgBouncer"
import { StorageSuite } from "@wac/testkit"
import { Effect, Layer } from "effect"
import { inject } from "vitest"
import { PostgresStorage } from "../src/index.ts"
import { freshDatabase, pooled, storageIn } from "./servers.ts"

const sequences = Extent.of(500, 100_000)

for (const { name, url } of inject("postgresServers")) {
  StorageSuite.suite(
    name,
    Layer.unwrap(Effect.map(freshDatabase(url), (url) => storageIn(url))),
    { sequences }
  )
}
StorageSuite.suite("PGlite", PostgresStorage.layerEmbedded({}), { sequences })

// where a pooler is everywhere, the suites above run behind it
describe.each(PgBouncer.isEverywhere ? [] : ["PgBouncer"])("behind %s", PgBouncer.needed, (pooler) => {
  StorageSuite.suite(
    `PostgreSQL behind ${pooler}`,
    Layer.unwrap(Effect.map(Effect.flatMap(freshDatabase(), pooled), PostgresStorage.layerServer)),
    // whose steps lock, load and write, and what notifies other processes
    Extent.of({ ports: ["ApiKeyStore", "ChangeStore", "RateLimitStore", "WebhookStore"] }, {})
  )
})
