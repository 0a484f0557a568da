/**
 * Prisma's client with an order and its message in one transaction.
 */
import * as Extent from "@wac/testbed/Extent"
import * as PrismaClient from "@wac/testbed/PrismaClient"
import { assert, it, onTestFinished } from "vitest"
import { hello, opened, serverOf } from "./Installed.ts"

it.each(Extent.of([], ["7.10.0"]))(
  "with Prisma %s, an order and its message are committed or rolled back together",
  async (version) => {
    const { module, remove } = await PrismaClient.generate(version)
    onTestFinished(remove)
    const { rowsOf, url } = await serverOf()
    const wac = await opened(url)
    await rowsOf("create table orders (id text primary key)")
    const { clientOf }: PrismaClient.ClientModule = await import(/* @vite-ignore */ module)
    const prisma = clientOf(url)
    onTestFinished(() => prisma.$disconnect())

    const place = (id: string, isUndone: boolean) =>
      prisma.$transaction(async (tx) => {
        await tx.order.create({ data: { id } })
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
