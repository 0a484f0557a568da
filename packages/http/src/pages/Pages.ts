/**
 * The few pages for people: what is here, and the set-up of the first owner.
 */
import { ErrorAddress } from "@wac/api"
import { Setup } from "@wac/core"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { version } from "../Version.ts"
import * as Documentation from "./Documentation.ts"
import * as ErrorsPage from "./ErrorsPage.ts"
import * as PageHeaders from "./PageHeaders.ts"

/** Where browsers look for it by themselves, and where our own pages say that it is. */
const iconPaths = ["/favicon.ico", "/favicon.svg"] as const

/** Every page; `Routes` knows them by this. */
export const paths = ["/", "/setup", ErrorAddress.path, ...Documentation.paths, ...iconPaths] as const

/** A page, from which `root` leads to `/`. */
const page = (title: string, body: string, root = ""): string =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${root}favicon.svg">
<style>
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 32rem; margin: 4rem auto; padding: 0 1rem }
label { display: block; margin-top: 1rem }
input { font: inherit; width: 100%; box-sizing: border-box; padding: .4rem }
button { font: inherit; margin-top: 1.5rem; padding: .4rem 1rem }
pre { overflow-x: auto; padding: .6rem; border: 1px solid }
</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`

const running = `wac${version === undefined ? "" : ` ${version}`}`

/** Before somebody has set it up, that comes first; `undefined` is not known, since the storage does not say. */
const home = (isSetUp: boolean | undefined): string =>
  page(
    "wac",
    `<h1>wac</h1>
<p>This is ${running}: it sends WhatsApp messages for a workspace, issues API keys, and reports what happened through
signed webhooks. The service is running.</p>
${
      isSetUp === false
        ? `<p><b>It is not set up yet.</b> Open the set-up link that it wrote to its log.</p>\n`
        : ""
    }<ul>
<li><a href="docs">API documentation</a> (<a href="openapi.json">OpenAPI</a>)</li>
<li><a href="docs/errors">Every error</a>, and what to do about it</li>
<li><a href="readyz">Readiness</a>, for load balancers; <a href="healthz">health</a>, for whatever restarts it</li>
${isSetUp === true ? "<li>Sign in: <code>POST /internal/session</code> with e-mail and password</li>\n" : ""}</ul>`
  )

const alreadySetUp = page(
  "wac is set up",
  `<h1>Already set up</h1>
<p>This service has its workspace and owner; the set-up link works once.</p>
<ul>
<li>To sign in, <code>POST /internal/session</code> with e-mail and password: <a href="docs">API documentation</a></li>
<li>For a lost password, whoever runs the service has a command: <code>npm run members -- reset-password</code></li>
<li><a href="./">What is here</a></li>
</ul>`
)

// the token stays in the fragment of the link, which browsers send to nobody; by `post`, so that a browser that runs no
// scripts puts no password into an address
const setup = page(
  "Set up wac",
  `<h1>Set up</h1>
<p>Create the first workspace and its owner. The link works once.</p>
<noscript><p>This page needs JavaScript. The terminal shows a command that does the same.</p></noscript>
<form method="post">
<label>Workspace <input name="workspaceName" required maxlength="100" autocomplete="organization"></label>
<label>E-mail <input name="email" type="email" required autocomplete="username"></label>
<label>Password <input name="password" type="password" required minlength="8" autocomplete="new-password"></label>
<button>Create</button>
</form>
<p role="status" aria-live="polite"></p>
<section hidden>
<h2>Next</h2>
<p>In a terminal, sign in and create an API key. Its secrets are shown once.</p>
<pre></pre>
<p>With the key, <code>POST /v1/messages</code> sends a message: the <a href="docs">API documentation</a> shows how, and
how to have events delivered to a webhook.</p>
</section>
<script>
const next = document.querySelector("section")
const quoted = (text) => "'" + text.replaceAll("'", "'\\\\''") + "'"
const commands = (email) => {
  const json = " \\\\\\n  -H 'Content-Type: application/json' -H 'Sec-Fetch-Site: same-origin' \\\\\\n  "
  const internal = new URL("internal/", location.href)
  return "read -rs PASSWORD\\n" +
    "curl -sS -c wac.cookies " + internal + "session" + json +
    "-d " + quoted(JSON.stringify({ email }).slice(0, -1) + ',"password":"') + '"$PASSWORD"' + "'" + '"}' + "'\\n" +
    "curl -sS -b wac.cookies " + internal + "api-keys -H 'Idempotency-Key: first-key'" + json +
    "-d " + quoted(JSON.stringify({ name: "first" }))
}
const form = document.querySelector("form")
const status = document.querySelector("[role=status]")
form.addEventListener("submit", async (event) => {
  event.preventDefault()
  try {
    const response = await fetch("internal/setup", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token: location.hash.slice(1), ...Object.fromEntries(new FormData(form)) })
    })
    const body = await response.json()
    form.hidden = response.ok
    next.hidden = !response.ok
    if (response.ok) next.querySelector("pre").textContent = commands(body.email)
    status.textContent = response.ok
      ? "Done. You are signed in as " + body.email + ", owner of " + body.workspaceName + "."
      : body.error.message
  } catch {
    status.textContent = "The service did not answer. Try again."
  }
})
</script>`
)

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<path d="M4 5h24v17H15l-7 6v-6H4z" fill="#0b7a4b"/>
<path d="M9 11l3 6 4-6 4 6 3-6" fill="none" stroke="#fff" stroke-width="2.5" stroke-linejoin="round"/>
</svg>
`

const html = (text: string) =>
  HttpServerResponse.text(text, {
    contentType: "text/html; charset=utf-8",
    headers: { "content-security-policy": PageHeaders.policyOf(text) }
  })

/** The pages that depend on whether somebody has set the service up; while the storage does not say, as if not known. */
const dependent = HttpRouter.use((router) =>
  Effect.gen(function*() {
    const { isDone } = yield* Setup.Setup
    const isSetUp = Effect.catch(isDone, () => Effect.void)
    yield* router.add("GET", "/", Effect.map(isSetUp, (isSetUp) => html(home(isSetUp ?? undefined))))
    yield* router.add("GET", "/setup", Effect.map(isSetUp, (isSetUp) => html(isSetUp === true ? alreadySetUp : setup)))
  })
)

export const layer = Layer.mergeAll(
  dependent,
  ...iconPaths.map((path) =>
    HttpRouter.add(
      "GET",
      path,
      HttpServerResponse.text(icon, {
        contentType: "image/svg+xml",
        headers: { "cache-control": "public, max-age=86400" }
      })
    )
  ),
  HttpRouter.add("GET", ErrorAddress.path, html(page("Errors", ErrorsPage.body, "../"))),
  Documentation.layer
)
