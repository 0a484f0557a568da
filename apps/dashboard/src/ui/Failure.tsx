/** Messages about failures, with the id by which the operator finds the request in the log. */
import { type ErrorCode, WacError } from "@wac/client/internal"
import type { ReactNode } from "react"
import { pages, portal } from "../session/Document.ts"
import { isSignedOut } from "../session/Service.ts"
import { language, rich, t } from "./Language.ts"
import { Notice } from "./Notice.tsx"
import { Problem } from "./Problem.ts"
import { asSentence } from "./Words.ts"

/** A refusal of the service, summed up in the reader's language; the service's own messages are in English. */
const gistOf = ({ code, reason }: WacError): string =>
  reason === "role_not_allowed"
    ? t("Your role may not do this.")
    : reason === "outcome_unknown"
    ? t("It is not known whether this was done.")
    : ({
      invalid_body: t("A value is not valid."),
      unauthorized: t("You are not signed in."),
      forbidden: t("This is not allowed."),
      not_found: t("This was not found."),
      idempotency_conflict: t("This conflicts with an earlier request."),
      rate_limited: t("Too many requests. Try again later."),
      server_error: t("The service failed. Try again later.")
    } satisfies Record<Exclude<ErrorCode, "no_response">, string> as { readonly [code: string]: string })[code] ??
      t("The service refused this.")

/** The message of an error for people. `words` replaces the service's message, for example by a part of it. */
export const messageOf = (error: unknown, words?: string): string => {
  if (error instanceof Problem) return asSentence(error.message)
  if (!(error instanceof WacError)) return t("Something went wrong in this page. Reload it.")
  if (error.code === "no_response") return t("The service did not respond: {why}.", { why: error.message })
  // pages show the request's id separately
  const sentence = asSentence((words ?? error.message).replace(` (${error.requestId})`, ""))
  return language === "en" ? sentence : `${gistOf(error)} (“${sentence}”)`
}

/** The id of a refused request. It links to the request's page in a new tab, so that a form here stays filled in. */
const RequestId = ({ error, id }: { readonly error: unknown; readonly id: string }) => {
  const shown = <code className="font-mono">{id}</code>
  return portal !== undefined || isSignedOut(error)
    ? shown
    : <a href={`${pages}/requests/${id}`} target="_blank" className="underline">{shown}</a>
}

/** A box with the message of an error and the request's id; nothing if there is no error. */
export const Failure = ({ actions, error }: { readonly error: unknown; readonly actions?: ReactNode }) =>
  error == null ? null : (
    <Notice tone="bad" role="alert" actions={actions}>
      {messageOf(error)}
      {error instanceof WacError && error.requestId !== undefined
        ? (
          <span className="block text-[13px]">
            {rich("Request {id}", { id: <RequestId error={error} id={error.requestId} /> })}
          </span>
        )
        : null}
    </Notice>
  )
