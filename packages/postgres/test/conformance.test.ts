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
import { freshDatabase, hostPool, pooled, storageIn } from "./servers.ts"

// the statements are the same on every server, so all sequences of the models run on the first one
const first: StorageSuite.Options = { runs: Extent.of("all", "long") }
const elsewhere: StorageSuite.Options = { runs: Extent.of("few", "long") }

for (const [i, { name, url }] of inject("postgresServers").entries()) {
  StorageSuite.suite(
    name,
    Layer.unwrap(Effect.map(freshDatabase(url), (url) => storageIn(url))),
    i === 0 ? first : elsewhere
  )
}
StorageSuite.suite("PGlite", PostgresStorage.layerEmbedded({}), elsewhere)

StorageSuite.suite(
  "PostgreSQL by a host's pool",
  Layer.unwrap(Effect.map(Effect.flatMap(freshDatabase(), hostPool), (pool) => PostgresStorage.layerPool({ pool }))),
  Extent.of<StorageSuite.Options>({
    ports: ["ApiKeyStore", "ChangeStore", "RateLimitStore", "WebhookStore"],
    runs: "few"
  }, {})
)

// where a pooler is everywhere, the suites above run behind it
describe.each(PgBouncer.isEverywhere ? [] : ["PgBouncer"])("behind %s", PgBouncer.needed, (pooler) => {
  StorageSuite.suite(
    `PostgreSQL behind ${pooler}`,
    Layer.unwrap(Effect.map(Effect.flatMap(freshDatabase(), pooled), PostgresStorage.layerServer)),
    // whose steps lock, load and write, and what notifies other processes
    Extent.of<StorageSuite.Options>({
      ports: ["ApiKeyStore", "ChangeStore", "RateLimitStore", "WebhookStore"],
      runs: "few"
    }, {})
  )
})
