/**
 * Drizzle Kit, which brings a database to the host's schema.
 */
import * as Extent from "@wac/testbed/Extent"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, it } from "vitest"
import { hello, installed, migratedByEarlier, opened, run, serverOf } from "./Installed.ts"

it.each(Extent.of([], ["0.31.11"]))(
  "Drizzle Kit %s brings a host's tables of the same names beside the schema, and then finds nothing to change, before and after an upgrade",
  async (version) => {
    const folder = await installed([`drizzle-kit@${version}`, "drizzle-orm@0.45.4", "pg@8.23.1"])
    const { rowsOf, url } = await serverOf()
    await migratedByEarlier(url)
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
    assert.include(await push(), "No changes detected")
    const wac = await opened(url)
    const { messageId } = await wac.messages.send(hello, { idempotencyKey: "order-1" })
    assert.include(await push(), "No changes detected")
    assert.strictEqual((await wac.messages.get(messageId)).messageId, messageId)
    assert.deepEqual(await rowsOf("select count(*)::integer as n from public.messages"), [{ n: 0 }])
  }
)
