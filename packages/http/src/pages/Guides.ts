/**
 * `/docs/NAME.md`: the project's guides as Markdown, and `/llms.txt` (llmstxt.org), which lists them and the other
 * documentation for programs that read it on a person's behalf. Open to everybody, as all documentation.
 */
import { ErrorAddress, EventSchemas, PostmanCollection } from "@wac/api"
import { Context, Effect } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { MountPath } from "../MountPath.ts"
import { PublicUrl } from "../PublicUrl.ts"
import * as StaticFile from "./StaticFile.ts"

/** A document of the project. */
export interface Guide {
  /** Its path in the folder of the documentation, such as `guides/operating.md`. */
  readonly path: string
  /** Markdown that begins with a title and, for `/llms.txt`, a paragraph. */
  readonly text: string
}

/** The documents that are served. Their names differ, even in different folders. By default there are none. */
export const Guides = Context.Reference<ReadonlyArray<Guide>>("@wac/http/pages/Guides", { defaultValue: () => [] })

/** The path of the list. */
export const listPath = "/llms.txt"

const servedAt = ({ path }: Guide): `/docs/${string}` => `/docs/${path.split("/").at(-1)!}`

/** The address of each guide. */
export const pathsOf = (guides: ReadonlyArray<Guide>): ReadonlyArray<string> => guides.map(servedAt)

/** Fenced code stays as it is. */
const fenced = /(^```[^]*?^```$)/m

const link = /(!?)\[((?:[^[\]`]|`[^`]*`)*)\]\(([^()\s]+)\)/g

const isRelative = (target: string): boolean => !/^(?:#|\/|[a-z][a-z+.-]*:)/i.test(target)

/** The link to a guide with its `address`. Of a link to a file that is not served, only its text remains. */
const linked = (guides: ReadonlyArray<Guide>, from: Guide, address: (guide: Guide) => string) =>
(
  whole: string,
  mark: string,
  words: string,
  target: string
): string => {
  if (!isRelative(target)) return whole
  const { hash, pathname } = new URL(target, `file:///docs/${from.path}`)
  const to = guides.find(({ path }) => `/docs/${path}` === pathname)
  return to === undefined ? words : `${mark}[${words}](${address(to)}${hash})`
}

/** The text as it is served. Links to other guides become relative, because all are served in one folder. Pure. */
export const textOf = (guides: ReadonlyArray<Guide>, guide: Guide): string =>
  guide.text.split(fenced).map((part, i) =>
    i % 2 === 1 ? part : part.replaceAll(link, linked(guides, guide, (to) => servedAt(to).slice("/docs/".length)))
  ).join("")

const titleOf = ({ text }: Guide): string => /^# (.+)$/m.exec(text)?.[1] ?? ""

/** The first sentence after the title, without links; empty if something else than a paragraph follows. */
const summaryOf = (guide: Guide): string => {
  const [, paragraph = ""] = guide.text.split(/\n\n+/)
  const words = /^[\p{L}[`]/u.test(paragraph) ? paragraph.replaceAll("\n", " ").replaceAll(link, "$2").trim() : ""
  return /^.*?[.:](?= [\p{Lu}`]|$)/u.exec(words)?.[0].replace(/:$/, ".") ?? words
}

/** The list, with addresses below `base`. Pure. */
export const listOf = (guides: ReadonlyArray<Guide>, base: string): string => {
  const item = (guide: Guide) => `- [${titleOf(guide)}](${base}${servedAt(guide)}): ${summaryOf(guide)}`
  const isGuide = ({ path }: Guide) => path.startsWith("guides/")
  const own = guides.filter(isGuide)
  return [
    "# wac",
    "> A messaging service: it sends WhatsApp messages for workspaces, issues API keys, and reports what happens " +
    "through signed webhooks.",
    "Programs call `/v1` with an API key as a Bearer token; every POST takes an `Idempotency-Key`. People use " +
    "`/dashboard`. Rely on the `code` and `reason` of an error, not on its message.",
    ...own.length === 0 ? [] : ["## Guides", own.map(item).join("\n")],
    "## Reference",
    [
      `- [OpenAPI](${base}/openapi.json): Every endpoint, with examples and with the events that webhooks get.`,
      `- [Events](${base}${EventSchemas.path}): The events that webhooks get, as JSON Schema.`,
      `- [Postman collection](${base}${PostmanCollection.path}): Every endpoint as a request for Postman.`,
      `- [Errors](${base}${ErrorAddress.path}): Every error, and what to do about it.`,
      ...guides.filter((guide) => !isGuide(guide)).map(item)
    ].join("\n")
  ].join("\n\n") + "\n"
}

/** Guides are cached as long as the other documentation. */
const headers = { "cache-control": "public, max-age=300" }

export const layer = HttpRouter.use((router) =>
  Effect.gen(function*() {
    const guides = yield* Guides
    const publicUrl = yield* PublicUrl
    const listBelow = StaticFile.byPlace((base) =>
      StaticFile.make({ text: listOf(guides, base), contentType: "text/plain; charset=utf-8", headers })
    )
    yield* router.add(
      "GET",
      listPath,
      Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        return yield* listBelow(ErrorAddress.baseOf(publicUrl, yield* MountPath)).respond(request)
      })
    )
    for (const guide of guides) {
      const file = StaticFile.make({
        text: textOf(guides, guide),
        contentType: "text/markdown; charset=utf-8",
        headers
      })
      yield* router.add("GET", servedAt(guide), Effect.flatMap(HttpServerRequest.HttpServerRequest, file.respond))
    }
  })
)
