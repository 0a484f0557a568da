/**
 * Message templates (specification §2, contract §7).
 */
import { TemplatesApi } from "@wac/api"
import { type Id, Templates as Service } from "@wac/core"
import { TemplatesHandlers } from "@wac/http"
import { Effect, Schema } from "effect"
import * as Input from "../Input.ts"
import * as Listing from "../Listing.ts"
import type { Running } from "../Running.ts"

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

/** The message templates of a workspace. */
export interface Templates {
  /** Newest first. */
  readonly list: (filter?: TemplateFilter) => Listing.Listing<Template>
  /** Makes the workspace's templates equal to the provider's list. */
  readonly sync: () => Promise<void>
}

const readFilter = Input.read(Schema.Struct(TemplatesApi.filter))

export const make = Effect.map(
  Service.Templates,
  (templates) => (running: Running, workspaceId: Id.WorkspaceId): Templates => ({
    list: (filter = {}) =>
      Listing.make(
        running,
        (page) => Effect.flatMap(readFilter(filter), (filter) => templates.list(workspaceId, filter, page)),
        TemplatesHandlers.shown
      ),
    sync: () => running.run(Effect.asVoid(templates.sync(workspaceId)))
  })
)
