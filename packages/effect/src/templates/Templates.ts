/**
 * The `templates` methods of an embedded `Wac` instance (specification §2, contract §7). They check the caller's
 * arguments and call core's `Templates`, which writes to the storage and calls the provider.
 */
import { TemplatesApi } from "@wac/api"
import { type Id, TemplateDraft, Templates as Service } from "@wac/core"
import { TemplatesHandlers } from "@wac/http"
import { Effect, Schema } from "effect"
import type * as Messaging from "../generated/Messaging.ts"
import type { NewTemplate, Template, TemplateEdit } from "../generated/Resources.ts"
import * as Input from "../Input.ts"
import * as Listing from "../Listing.ts"
import type { Running } from "../Running.ts"

/** The message templates of a workspace. */
export interface Templates extends Messaging.Templates {
  readonly list: (filter?: Messaging.TemplateFilter, options?: Messaging.CallOptions) => Listing.Listing<Template>
  /** A template of any status. */
  readonly get: (id: string, options?: Messaging.CallOptions) => Promise<Template>
  /** Creates a template at the provider, which reviews it and reports the result later. */
  readonly create: (template: NewTemplate, options?: Messaging.CallOptions) => Promise<Template>
  /** Changes a template, which the provider reviews again. */
  readonly edit: (id: string, change: TemplateEdit, options?: Messaging.CallOptions) => Promise<Template>
  /** Deletes this template at the provider, and none of the same name in another language. */
  readonly remove: (id: string, options?: Messaging.CallOptions) => Promise<void>
  /** Makes the workspace's templates equal to the provider's list. */
  readonly sync: (options?: Messaging.CallOptions) => Promise<void>
}

const readFilter = Input.read(Schema.Struct(TemplatesApi.filter))

const readNew = Input.read(TemplatesApi.CreateTemplate)
const readEdit = Input.read(TemplateDraft.TemplateEdit)

export const make = Effect.map(
  Service.Templates,
  (templates) => (running: Running, workspaceId: Id.WorkspaceId): Templates => ({
    list: (filter = {}, options) =>
      Listing.make(
        running,
        "tpl",
        (page) => Effect.flatMap(readFilter(filter), (filter) => templates.list(workspaceId, filter, page)),
        TemplatesHandlers.shown,
        options
      ),
    get: (id, options) => running.run(Effect.map(templates.get(workspaceId, id), TemplatesHandlers.shown), { options }),
    create: (template, options) =>
      running.run(
        Effect.map(
          Effect.flatMap(
            readNew(template),
            ({ phoneNumberId, ...draft }) => templates.create(workspaceId, draft, phoneNumberId)
          ),
          TemplatesHandlers.shown
        ),
        { options }
      ),
    edit: (id, change, options) =>
      running.run(
        Effect.map(
          Effect.flatMap(readEdit(change), (change) => templates.edit(workspaceId, id, change)),
          TemplatesHandlers.shown
        ),
        { options }
      ),
    remove: (id, options) => running.run(Effect.asVoid(templates.remove(workspaceId, id)), { options }),
    sync: (options) => running.run(Effect.asVoid(templates.sync(workspaceId)), { options })
  })
)
