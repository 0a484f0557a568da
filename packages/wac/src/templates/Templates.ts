/**
 * The `templates` methods of an embedded `Wac` instance (specification §2, contract §7). They check the caller's
 * arguments and call core's `Templates`, which writes to the storage and calls the provider.
 */
import { TemplatesApi } from "@wac/api"
import { type Id, TemplateDraft, Templates as Service } from "@wac/core"
import { TemplatesHandlers } from "@wac/http"
import { Effect, Schema } from "effect"
import * as Input from "../Input.ts"
import * as Listing from "../Listing.ts"
import type { Running } from "../Running.ts"
import type { TemplateCategory, TemplateComponent } from "./TemplateComponents.ts"

/** A template of any status. Only an approved one can be sent. */
export interface Template {
  readonly id: string
  readonly name: string
  readonly language: string
  /** `marketing`, `utility`, `authentication`. */
  readonly category: string
  /** `approved`, `pending`, `rejected`, `paused`, `disabled`, … */
  readonly status: string
  readonly parameterFormat: "positional" | "named"
  /** As the provider has them. */
  readonly components: ReadonlyArray<unknown>
  /** The body's placeholders, in the order in which `bodyParams` fills them. */
  readonly variables: ReadonlyArray<string>
  /** Why `bodyParams` alone cannot fill it; `null` if they can. */
  readonly unfillable: string | null
  readonly quality: string | null
  readonly rejectionReason: string | null
  readonly providerTemplateId: string
  readonly syncedAt: string
}

/** Which templates, by status, category, language or name, matched exactly. */
export interface TemplateFilter {
  readonly status?: string
  readonly category?: string
  readonly language?: string
  readonly name?: string
}

/** A template to create. */
export interface NewTemplate {
  /** Lower-case letters, digits and underscores. */
  readonly name: string
  readonly language: string
  readonly category: TemplateCategory
  /** `positional` if omitted. */
  readonly parameterFormat?: "positional" | "named"
  readonly components: ReadonlyArray<TemplateComponent>
  /** How long the provider tries to deliver a message. */
  readonly messageSendTtlSeconds?: number
  /** The number in whose account it is created: the default number, if omitted. */
  readonly phoneNumberId?: string
}

/** A change of a template: at least one field. */
export interface TemplateEdit {
  readonly category?: TemplateCategory
  /** Replace the old ones as a whole. */
  readonly components?: ReadonlyArray<TemplateComponent>
  readonly messageSendTtlSeconds?: number
}

/** The message templates of a workspace. */
export interface Templates {
  /** Newest first. */
  readonly list: (filter?: TemplateFilter) => Listing.Listing<Template>
  /** Creates a template at the provider, which reviews it and reports the result later. */
  readonly create: (template: NewTemplate) => Promise<Template>
  /** Changes a template, which the provider reviews again. */
  readonly edit: (id: string, change: TemplateEdit) => Promise<Template>
  /** Deletes this template at the provider, and none of the same name in another language. */
  readonly remove: (id: string) => Promise<void>
  /** Makes the workspace's templates equal to the provider's list. */
  readonly sync: () => Promise<void>
}

const readFilter = Input.read(Schema.Struct(TemplatesApi.filter))

const readNew = Input.read(TemplatesApi.CreateTemplate)
const readEdit = Input.read(TemplateDraft.TemplateEdit)

export const make = Effect.map(
  Service.Templates,
  (templates) => (running: Running, workspaceId: Id.WorkspaceId): Templates => ({
    list: (filter = {}) =>
      Listing.make(
        running,
        (page) => Effect.flatMap(readFilter(filter), (filter) => templates.list(workspaceId, filter, page)),
        TemplatesHandlers.shown
      ),
    create: (template) =>
      running.run(
        Effect.map(
          Effect.flatMap(
            readNew(template),
            ({ phoneNumberId, ...draft }) => templates.create(workspaceId, draft, phoneNumberId)
          ),
          TemplatesHandlers.shown
        )
      ),
    edit: (id, change) =>
      running.run(
        Effect.map(
          Effect.flatMap(readEdit(change), (change) => templates.edit(workspaceId, id, change)),
          TemplatesHandlers.shown
        )
      ),
    remove: (id) => running.run(Effect.asVoid(templates.remove(workspaceId, id))),
    sync: () => running.run(Effect.asVoid(templates.sync(workspaceId)))
  })
)
