/**
 * A client of Prisma for a table `orders` with the column `id`, generated where npm installs Prisma.
 */
import { execFile } from "node:child_process"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { install } from "./Installed.ts"

/** What a transaction of the client has for tests. */
export interface Transaction {
  readonly $queryRawUnsafe: (text: string, ...values: ReadonlyArray<string | null>) => Promise<unknown>
  readonly order: { readonly create: (given: { readonly data: { readonly id: string } }) => Promise<unknown> }
}

/** What the client has for tests. */
export interface PrismaClient extends Pick<Transaction, "$queryRawUnsafe"> {
  readonly $transaction: (run: (tx: Transaction) => Promise<void>) => Promise<void>
  readonly $disconnect: () => Promise<void>
  readonly order: { readonly count: () => Promise<number> }
}

/** What the module of {@link Generated} exports. */
export interface ClientModule {
  readonly clientOf: (connectionString: string) => PrismaClient
}

/** Where the client is. */
export interface Generated {
  /** The file of a {@link ClientModule}. */
  readonly module: string
  readonly remove: () => Promise<void>
}

const schema = `generator client {
  provider            = "prisma-client"
  output              = "./generated"
  importFileExtension = "ts"
}
datasource db {
  provider = "postgresql"
}
model Order {
  id String @id
  @@map("orders")
}
`

const client = `import { PrismaPg } from "@prisma/adapter-pg"
import { PrismaClient } from "./generated/client.ts"
export const clientOf = (connectionString: string) => new PrismaClient({ adapter: new PrismaPg({ connectionString }) })
`

/** Installs Prisma and generates a client. */
export const generate = async (version: string): Promise<Generated> => {
  const { folder, remove } = await install(
    ["prisma", "@prisma/client", "@prisma/adapter-pg"].map((name) => `${name}@${version}`)
  )
  await writeFile(join(folder, "schema.prisma"), schema)
  await writeFile(join(folder, "prisma.config.ts"), "export default { schema: \"schema.prisma\" }\n")
  const module = join(folder, "client.ts")
  await writeFile(module, client)
  await promisify(execFile)(process.execPath, [join(folder, "node_modules/prisma/build/index.js"), "generate"], {
    cwd: folder,
    // it runs no engine; without one it would fetch it
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath }
  })
  return { module, remove }
}
