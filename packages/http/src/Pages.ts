/**
 * The few pages for people: what is here, and the set-up of the first owner.
 */
import { OpenApiDocument } from "@wac/api"
import { Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import * as Documentation from "./Documentation.ts"
import * as ErrorsPage from "./ErrorsPage.ts"

/** Every page; `UnknownRoute` knows them by this. */
export const paths = ["/", "/setup", OpenApiDocument.errorsPath, ...Documentation.paths] as const

const page = (title: string, body: string): string =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 32rem; margin: 4rem auto; padding: 0 1rem }
label { display: block; margin-top: 1rem }
input { font: inherit; width: 100%; box-sizing: border-box; padding: .4rem }
button { font: inherit; margin-top: 1.5rem; padding: .4rem 1rem }
</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`

const home = page(
  "wac",
  `<h1>wac</h1>
<p>The service is running.</p>
<ul>
<li><a href="docs">API documentation</a> (<a href="openapi.json">OpenAPI</a>), <a href="docs/errors">every error</a></li>
<li><a href="readyz">Readiness</a></li>
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
<script>
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
    status.textContent = response.ok
      ? "Done. You are signed in as " + body.email + ", owner of " + body.workspaceName + "."
      : body.error.message
  } catch {
    status.textContent = "The service did not answer. Try again."
  }
})
</script>`
)

const html = (text: string) => HttpServerResponse.text(text, { contentType: "text/html; charset=utf-8" })

export const layer = Layer.mergeAll(
  HttpRouter.add("GET", "/", html(home)),
  HttpRouter.add("GET", "/setup", html(setup)),
  HttpRouter.add("GET", OpenApiDocument.errorsPath, html(page("Errors", ErrorsPage.body))),
  Documentation.layer
)
