/**
 * Tools that are too large for every run, installed by npm in the full form: Prisma's client, and Drizzle Kit, which
 * brings a database to the host's schema.
 */
import * as Extent from "@wac/testbed/Extent"
import * as PostgresServer from "@wac/testbed/PostgresServer"
import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import pg from "pg"
import { assert, it, onTestFinished } from "vitest"
import { createWac, postgres, sandbox } from "wac"

const run = promisify(execFile)

/** A folder in which npm has installed packages. */
const installed = async (...packages: ReadonlyArray<string>): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "wac-installed-"))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }))
  await run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...packages], { cwd: folder })
  return folder
}

const started = async () => {
  const server = await PostgresServer.start("fsync=off")
  onTestFinished(server.remove)
  const wac = await createWac({ storage: postgres(server.url), provider: sandbox(), masterKey: new Uint8Array(32) })
  onTestFinished(() => wac.close())
  const pool = new pg.Pool({ connectionString: server.url, max: 1 })
  onTestFinished(() => pool.end())
  const rowsOf = async (text: string): Promise<ReadonlyArray<unknown>> => (await pool.query(text)).rows
  return { url: server.url, wac, rowsOf }
}

const hello = { to: "+4915112345678", type: "template", template: { name: "hello_world", language: "en_US" } } as const

/** What a client of Prisma has here. */
interface PrismaClient extends Pick<Transaction, "$queryRawUnsafe"> {
  readonly $transaction: (run: (tx: Transaction) => Promise<void>) => Promise<void>
  readonly $disconnect: () => Promise<void>
  readonly order: { readonly count: () => Promise<number> }
}

interface Transaction {
  readonly $queryRawUnsafe: (text: string, ...values: ReadonlyArray<string | null>) => Promise<unknown>
  readonly order: { readonly create: (given: object) => Promise<unknown> }
}

it.each(Extent.of([], ["7.10.0"]))(
  "with Prisma %s, an order and its message are committed or rolled back together",
  async (version) => {
    const folder = await installed(
      ...["prisma", "@prisma/client", "@prisma/adapter-pg"].map((name) => `${name}@${version}`)
    )
    await writeFile(
      join(folder, "schema.prisma"),
      `generator client {
  provider            = "prisma-client"
  output              = "./generated"
  importFileExtension = "ts"
}
datasource db {
  provider = "postgresql"
}
model Order {
  id    String @id
  phone String
  @@map("orders")
}
`
    )
    await writeFile(join(folder, "prisma.config.ts"), "export default { schema: \"schema.prisma\" }\n")
    await writeFile(
      join(folder, "client.ts"),
      `import { PrismaPg } from "@prisma/adapter-pg"
import { PrismaClient } from "./generated/client.ts"
export const clientOf = (connectionString: string) => new PrismaClient({ adapter: new PrismaPg({ connectionString }) })
`
    )
    await run(process.execPath, [join(folder, "node_modules/prisma/build/index.js"), "generate"], {
      cwd: folder,
      // it runs no engine; without one it would fetch it
      env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath }
    })
    const { rowsOf, url, wac } = await started()
    await rowsOf("create table orders (id text primary key, phone text not null)")
    const { clientOf } = await import(/* @vite-ignore */ join(folder, "client.ts"))
    const prisma: PrismaClient = clientOf(url)
    onTestFinished(() => prisma.$disconnect())

    const place = (id: string, isUndone: boolean) =>
      prisma.$transaction(async (tx) => {
        await tx.order.create({ data: { id, phone: hello.to } })
        await wac.messages.enqueue(hello, { idempotencyKey: `order-${id}`, tx })
        if (isUndone) throw new Error("undone")
      })
    await place("1", false)
    const undone = await place("2", true).then(() => "committed", (error: Error) => error.message)
    assert.strictEqual(undone, "undone")
    assert.strictEqual(await prisma.order.count(), 1)
    const [count] = await rowsOf("select count(*)::integer as n from wac.outbox")
    assert.deepEqual(count, { n: 1 })
    // the client itself commits each statement alone
    const refused = await wac.messages.enqueue(hello, { idempotencyKey: "order-3", tx: prisma }).then(
      () => "enqueued",
      (error: Error) => error.message
    )
    assert.match(refused, /open transaction/)
    const other = await prisma.$transaction(async (tx) => {
      await wac.messages.enqueue({ ...hello, to: "+4915112345679" }, { idempotencyKey: "order-1", tx })
    }).then(() => "enqueued", ({ reason }: { readonly reason?: string }) => reason)
    assert.strictEqual(other, "payload_mismatch")
  }
)

it.each(Extent.of([], ["0.31.11"]))(
  "Drizzle Kit %s brings a host's tables of the same names beside the schema, and then finds nothing to change",
  async (version) => {
    const folder = await installed(`drizzle-kit@${version}`, "drizzle-orm@0.45.4", "pg@8.23.1")
    const { rowsOf, url, wac } = await started()
    await writeFile(
      join(folder, "schema.ts"),
      `import { pgTable, text } from "drizzle-orm/pg-core"
export const messages = pgTable("messages", { id: text().primaryKey() })
export const events = pgTable("events", { id: text().primaryKey(), name: text() })
`
    )
    await writeFile(
      join(folder, "drizzle.config.ts"),
      `export default { dialect: "postgresql", schema: "./schema.ts", dbCredentials: { url: ${
        JSON.stringify(url)
      } } }\n`
    )
    const push = async () => {
      const { stderr, stdout } = await run(
        process.execPath,
        [join(folder, "node_modules/drizzle-kit/bin.cjs"), "push", "--force"],
        { cwd: folder }
      )
      return stdout + stderr
    }
    assert.include(await push(), "Changes applied")
    const { messageId } = await wac.messages.send(hello, { idempotencyKey: "order-1" })
    assert.include(await push(), "No changes detected")
    assert.strictEqual((await wac.messages.get(messageId)).messageId, messageId)
    assert.deepEqual(await rowsOf("select count(*)::integer as n from public.messages"), [{ n: 0 }])
  }
)
