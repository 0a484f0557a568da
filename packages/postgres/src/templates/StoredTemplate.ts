/**
 * Templates as they are stored.
 */
import type { Template } from "@wac/core"
import { columns, type Fields } from "../Columns.ts"
import type { Row } from "../Statement.ts"

/** The columns of a template. */
export const template = columns(
  {
    id: "text",
    workspaceId: "text",
    providerAccountId: "text",
    providerTemplateId: "text",
    name: "text",
    language: "text",
    category: "text",
    status: "text",
    parameterFormat: "text",
    components: "json",
    variables: "json",
    unfillable: "text",
    quality: "text",
    rejectionReason: "text",
    syncedAt: "bigint"
  } satisfies Fields<Template.Template>
)

/** The template of a row, or of its JSON. */
export const templateOf = (row: Row): Template.Template => template.read(row) as Template.Template
