/**
 * The guides as Markdown, and `/llms.txt`, which lists them: the project's files, with links that resolve on the
 * server.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { globSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import * as checks from "../checks.ts"
import { call, start } from "../harness.ts"

const docs = fileURLToPath(new URL("../../../../docs/", import.meta.url))

const sources = [...globSync("guides/*.md", { cwd: docs }), "errors.md", "reference/access.md"].map((path) => ({
  address: `/docs/${basename(path)}`,
  source: readFileSync(join(docs, path), "utf8")
}))

const links = (text: string) =>
  [...text.replaceAll(/^```[^]*?^```$/gm, "").matchAll(/\]\(([^()\s]+)\)/g)].map(([, target]) => target!)

/** Text without its links, their words apart. */
const words = (text: string) => text.replaceAll(/!?\[((?:[^[\]`]|`[^`]*`)*)\]\([^()\s]+\)/g, "$1")

const slugs = (text: string) =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title!.toLowerCase().replaceAll(/[^\w\- ]/g, "").replaceAll(" ", "-")
  )

layer(checks.Served.layer(), checks.live)("the guides", (it) => {
  it.effect("every guide is served as Markdown, in the words of its file", () =>
    Effect.gen(function*() {
      const { url } = yield* checks.Served
      assert.isAbove(sources.length, 15)
      for (const { address, source } of sources) {
        const answer = yield* call(url + address)
        assert.strictEqual(answer.status, 200, address)
        assert.strictEqual(answer.headers.get("content-type"), "text/markdown; charset=utf-8")
        assert.strictEqual(words(answer.text), words(source), address)
      }
    }))

  it.effect("every link of a guide leads to something that the server serves, and to a heading that is there", () =>
    Effect.gen(function*() {
      const { url } = yield* checks.Served
      let count = 0
      for (const { address } of sources) {
        const own = url + address
        for (const target of links((yield* call(own)).text)) {
          const to = new URL(target, own)
          if (to.origin !== new URL(url).origin) continue
          const answer = yield* call(to.href)
          assert.strictEqual(answer.status, 200, `${address}: ${target}`)
          if (to.hash !== "") assert.include(slugs(answer.text), to.hash.slice(1), `${address}: ${target}`)
          count++
        }
      }
      assert.isAbove(count, 50)
    }))

  it.effect("/llms.txt has a title, a summary and lists of links that resolve, each with a description", () =>
    Effect.gen(function*() {
      const { url } = yield* checks.Served
      const { headers, text } = yield* call(`${url}/llms.txt`)
      assert.strictEqual(headers.get("content-type"), "text/plain; charset=utf-8")
      assert.match(text, /^# wac\n\n> \S[^\n]+\n\n(?:[^#\n-][^\n]+\n\n)*## Guides\n\n/)
      const [, ...sections] = text.split(/^## .+\n\n/m)
      const lines = sections.flatMap((section) => section.trim().split("\n"))
      for (const line of lines) assert.match(line, /^- \[[^\]]+\]\(http:[^\s)]+\): [A-Z][^\n]{10,220}\.$/)
      const listed = lines.flatMap(links)
      assert.includeMembers(
        listed,
        ["/openapi.json", "/docs/errors", ...sources.map(({ address }) => address)].map((path) => url + path)
      )
      for (const target of listed) assert.strictEqual((yield* call(target)).status, 200, target)
    }))

  it.effect("/llms.txt has the service's public address", () =>
    Effect.gen(function*() {
      const behind = yield* start({ environment: { PUBLIC_URL: "https://chat.example.com/wac/" } })
      assert.include((yield* call(`${behind.url}/llms.txt`)).text, "(https://chat.example.com/wac/docs/operating.md)")
    }))

  it.effect("a guide that does not exist is 404, and a guide cannot be posted to", () =>
    Effect.gen(function*() {
      const { url } = yield* checks.Served
      for (const name of ["nothing.md", "operating", "operating.MD", "guides/operating.md", "..%2fcontract.md"]) {
        checks.assertError(yield* call(`${url}/docs/${name}`), 404, { code: "not_found" })
      }
      checks.assertError(yield* call(`${url}/docs/operating.md`, { method: "POST" }), 405, { code: "not_found" })
    }))
})
