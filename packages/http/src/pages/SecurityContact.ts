/**
 * `GET /.well-known/security.txt` (RFC 9116): where to report a vulnerability. Exists only if the operator names a
 * contact.
 */
import { Time } from "@wac/core"
import { Clock, Context, Duration, Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"

/** The path of the file. */
export const path = "/.well-known/security.txt"

/** The contact, a `mailto:` or `https:` URL; `undefined` for none. */
export const SecurityContact = Context.Reference<string | undefined>("@wac/http/SecurityContact", {
  defaultValue: () => undefined
})

/** How long a reader may rely on the file: the standard recommends less than a year. */
const validFor = Duration.days(180)

export const layer = HttpRouter.use((router) =>
  Effect.gen(function*() {
    const contact = yield* SecurityContact
    if (contact === undefined) return
    yield* router.add(
      "GET",
      path,
      Effect.map(
        Clock.currentTimeMillis,
        (now) =>
          HttpServerResponse.text(
            `Contact: ${contact}\nExpires: ${Time.iso(now + Duration.toMillis(validFor))}\n`,
            { contentType: "text/plain; charset=utf-8" }
          )
      )
    )
  })
)
