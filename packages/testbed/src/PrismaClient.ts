/**
 * Generates a Prisma client for a table `orders` with the column `id`, in the folder where npm has installed Prisma.
 */
import { execFile } from "node:child_process"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { install } from "./Installed.ts"

/** The part of a Prisma transaction that tests use. */
export interface Transaction {
  readonly $queryRawUnsafe: (text: string, ...values: ReadonlyArray<string | null>) => Promise<unknown>
  readonly order: { readonly create: (given: { readonly data: { readonly id: string } }) => Promise<unknown> }
}

/** The part of the Prisma client that tests use. */
export interface PrismaClient extends Pick<Transaction, "$queryRawUnsafe"> {
  readonly $transaction: (run: (tx: Transaction) => Promise<void>) => Promise<void>
  readonly $disconnect: () => Promise<void>
  readonly order: { readonly count: () => Promise<number> }
}

/** The exports of the module that {@link Generated} names. */
export interface ClientModule {
  readonly clientOf: (connectionString: string) => PrismaClient
}

/** A generated client, and how to delete it. */
export interface Generated {
  /** The path of a {@link ClientModule}. */
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
    // generating runs no schema engine, but Prisma would download one if it had none
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath }
  })
  return { module, remove }
}
