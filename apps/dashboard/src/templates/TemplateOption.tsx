/** A template as an option of a select field. */
import type { TemplateDetail } from "@wac/client/internal"

/** The key that identifies a template: its name and language. */
export const templateKey = ({ language, name }: { readonly name: string; readonly language: string }): string =>
  `${name} ${language}`

export const TemplateOption = ({ template }: { readonly template: TemplateDetail }) => (
  <option value={templateKey(template)} disabled={template.unfillable !== null}>
    {template.name} · {template.language}
    {template.unfillable === null ? "" : " (cannot be filled here)"}
  </option>
)
