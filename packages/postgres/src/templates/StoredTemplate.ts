/**
 * The stored form of templates.
 */
import type { Template } from "@wac/core"
import { columns } from "../Columns.ts"

/** The columns of a template. */
export const template = columns<Template.Template>({
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
  variables: "text[]",
  unfillable: "text",
  quality: "text",
  rejectionReason: "text",
  syncedAt: "bigint"
})
