/**
 * What a browser has to load of the dashboard's script and style, compressed.
 */
import { Effect } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { assert, it } from "vitest"
import { browser as launch, signedIn } from "./browser.ts"
import * as workspace from "./workspace.ts"

const directory = fileURLToPath(new URL("../../../../packages/http/dist/dashboard/assets/", import.meta.url))

/** Bytes of a script or style as gzip packs it. */
const sizeOf = (name: string): number => gzipSync(readFileSync(join(directory, name))).byteLength

const sum = (names: Iterable<string>): number => [...names].reduce((total, name) => total + sizeOf(name), 0)

it("the first page loads at most 190 kB, and all pages together at most 400 kB", () =>
  Effect.gen(function*() {
    const server = yield* workspace.empty
    const browser = yield* launch
    const loaded = new Set<string>()
    yield* Effect.promise(async () => {
      const person = await signedIn(browser, server)
      // the parts of other pages are loaded when the browser has nothing else to do
      await person.page.addInitScript(() => Object.assign(window, { requestIdleCallback: () => 0 }))
      person.page.on("request", (request) => {
        const name = /\/assets\/([^/]+)$/.exec(request.url())?.[1]
        if (name !== undefined) loaded.add(name)
      })
      await person.open("")
      await person.page.getByRole("heading", { name: "Overview" }).waitFor()
      await person.page.getByText("No messages yet").waitFor()
      await person.end()
    })
    assert.isAbove(loaded.size, 3)
    assert.isAtMost(sum(loaded), 190_000)
    assert.isAtMost(sum(readdirSync(directory)), 400_000)
  }).pipe(Effect.scoped, Effect.runPromise))
