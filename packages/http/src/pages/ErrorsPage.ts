/**
 * The page at `/docs/errors`: every code and reason with its own anchor.
 */
import { ErrorReference } from "@wac/api"

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** A sentence of the reference as HTML. Links become text, because the documents that they name are not served here. */
const words = (text: string): string =>
  escaped(text).replaceAll(/\[([^[\]]+)\]\([^()]+\)/g, "$1").replaceAll(/`([^`]+)`/g, "<code>$1</code>")

const section = (item: ErrorReference.Item): string => {
  const anchor = ErrorReference.anchorOf(item)
  const title = item.reason === undefined ? "" : `<h3 id="${anchor}"><a href="#${anchor}">${item.reason}</a></h3>\n`
  return `${title}<p>Status ${item.status}. ${words(item.entry.when)}</p>
<p>${words(item.entry.remedy)}</p>
<p><b>Again?</b> ${words(item.entry.retry)}</p>`
}

const codes = Object.entries(ErrorReference.meanings)

/** The page's body. */
export const body = `<h1>Errors</h1>
<p>The body of every error: <code>{"error":{"code","message","reason"?,"param"?,"request_id","doc_url","provider"?}}</code>. Rely
on <code>code</code> and <code>reason</code>, which are stable; <code>message</code> is for people. <code>doc_url</code>
links to the explanation of the error on this page, at <code>#code-reason</code>.</p>
${
  codes.map(([code, meaning]) =>
    `<h2 id="${code}"><a href="#${code}">${code}</a></h2>\n<p>${words(meaning)}</p>\n` +
    ErrorReference.items.filter((item) => item.code === code).map(section).join("\n")
  ).join("\n")
}`
