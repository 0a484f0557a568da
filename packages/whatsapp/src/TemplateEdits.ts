/**
 * Creates, changes and deletes templates of an account.
 */
import { Errors, type PhoneNumber, type Provider, type Template, type TemplateDraft } from "@wac/core"
import { type Duration, Effect, Redacted, type Schema } from "effect"
import type { Access, Call } from "./CloudApi.ts"
import * as FileForm from "./FileForm.ts"
import type { GraphError } from "./GraphError.ts"
import * as Payload from "./Payload.ts"
import { lower } from "./PostSource.ts"
import * as TemplateList from "./TemplateList.ts"

/** The parts of a call in which the requests of this file differ. */
interface Request extends Pick<Call, "method" | "path" | "query" | "body"> {
  readonly file?: (access: Access) => FileForm.FileForm
  /** The time for the whole call; defaults to the timeout of a page of the list. */
  readonly timeout?: Duration.Duration
  /** Whether an error means that the change is already made. */
  readonly isDone?: (error: GraphError) => boolean
  /** Whether an error means that the template of the path does not exist. */
  readonly isGone?: (error: GraphError) => boolean
}

type Ask = (
  sender: PhoneNumber.PhoneNumber,
  request: Request
) => Effect.Effect<Payload.Json, Provider.TemplateRefused>

/** The subcode of "the template was not found in this account". */
const notFound = 2593002

/** The subcode of code 100 by which the object of a call does not exist or is not accessible. */
const noObject = 33

/** Whether an error to a call on a template means that there is no such template. */
const isGone = ({ code, subcode }: GraphError): boolean => subcode === notFound || code === 100 && subcode === noObject

/** The error of a change of a template that does not exist. */
export const gone = ({ code, message }: GraphError): Errors.Forbidden =>
  new Errors.Forbidden({
    reason: "template_not_found",
    message: "the provider does not know this template, or lets the token not see it",
    provider: { code: String(code), message }
  })

const ttlOf = (seconds: number | undefined): Schema.JsonObject =>
  seconds === undefined ? {} : { message_send_ttl_seconds: seconds }

const Created = Payload.shape({ id: Payload.word, status: lower, category: lower })

const Confirmed = Payload.shape({ success: (json) => json === true })

const AppId = Payload.shape({ id: Payload.word })

const Session = Payload.shape({ id: Payload.word })

/** The handle of a file, with a line for each part of it: only the limit of a response bounds its length. */
const handle: Payload.Read<string | undefined> = (json) => {
  const lines = Payload.text(json)?.trim()
  return lines === "" ? undefined : lines
}

const Handle = Payload.shape({ h: handle })

const unconfirmed = new Errors.ServerError({
  reason: "provider_error",
  message: "the provider did not confirm the change of a template"
})

/** Makes the editor, which `ask` connects to the API. */
export const make = (ask: Ask, uploadTimeout: Duration.Duration): Provider.TemplateEditor => ({
  uploadSample: Effect.fn("WhatsAppProvider.uploadSample")(function*(upload: Provider.FileUpload) {
    const { media, sender } = upload
    const app = AppId(yield* ask(sender, { method: "GET", path: ["app"], query: { fields: "id" } }))
    if (app.id === undefined) return yield* unconfirmed
    const session = Session(
      yield* ask(sender, {
        method: "POST",
        path: [app.id, "uploads"],
        query: { file_name: media.id, file_length: `${media.size}`, file_type: media.mimeType }
      })
    )
    // such as upload:MTph…?sig=ARZq…
    const [name, query] = session.id?.split("?") ?? []
    if (name === undefined) return yield* unconfirmed
    const { h } = Handle(
      yield* ask(sender, {
        method: "POST",
        path: [name],
        query: Object.fromEntries(new URLSearchParams(query)),
        file: ({ accessToken }) => FileForm.ofSample(upload, Redacted.value(accessToken)),
        timeout: uploadTimeout
      })
    )
    return h ?? (yield* unconfirmed)
  }),
  create: Effect.fn("WhatsAppProvider.createTemplate")(
    function*(sender: PhoneNumber.PhoneNumber, draft: TemplateDraft.TemplateDraft) {
      const { components, language, name, parameterFormat = "positional" } = draft
      const json = yield* ask(sender, {
        method: "POST",
        path: [sender.providerAccountId, "message_templates"],
        body: {
          name,
          language,
          category: draft.category.toUpperCase(),
          parameter_format: parameterFormat.toUpperCase(),
          components: components as ReadonlyArray<Schema.JsonObject>,
          ...ttlOf(draft.messageSendTtlSeconds)
        }
      })
      const { category = draft.category, id, status = "pending" } = Created(json)
      if (id === undefined) return yield* unconfirmed
      return {
        providerTemplateId: id,
        name,
        language,
        category,
        status,
        parameterFormat,
        components: components as ReadonlyArray<Schema.JsonObject>,
        quality: null,
        rejectionReason: null
      }
    }
  ),
  edit: Effect.fn("WhatsAppProvider.editTemplate")(
    function*(sender: PhoneNumber.PhoneNumber, template: Template.Template, change: TemplateDraft.TemplateEdit) {
      const path = [template.providerTemplateId]
      const components = change.components as ReadonlyArray<Schema.JsonObject> | undefined
      const json = yield* ask(sender, {
        method: "POST",
        path,
        isGone,
        body: {
          ...(change.category === undefined ? {} : { category: change.category.toUpperCase() }),
          ...(components === undefined ? {} : { components }),
          ...ttlOf(change.messageSendTtlSeconds)
        }
      })
      if (Confirmed(json).success !== true) return yield* unconfirmed
      // the answer does not tell whether it is reviewed first; until it is known, it must not be sent
      const shown = yield* Effect.orElseSucceed(
        ask(sender, { method: "GET", path, query: { fields: TemplateList.query.fields } }),
        () => null
      )
      return TemplateList.templateOf(shown) ?? {
        providerTemplateId: template.providerTemplateId,
        name: template.name,
        language: template.language,
        parameterFormat: template.parameterFormat,
        quality: template.quality,
        category: change.category ?? template.category,
        components: components ?? template.components,
        status: "pending",
        rejectionReason: null
      }
    }
  ),
  remove: Effect.fn("WhatsAppProvider.removeTemplate")(
    function*(sender: PhoneNumber.PhoneNumber, { name, providerTemplateId }: Template.Template) {
      const json = yield* ask(sender, {
        method: "DELETE",
        path: [sender.providerAccountId, "message_templates"],
        // without its id, the templates of all languages would be deleted
        query: { hsm_id: providerTemplateId, name },
        isDone: ({ subcode }) => subcode === notFound
      })
      if (json !== null && Confirmed(json).success !== true) return yield* unconfirmed
    }
  )
})
