/** A template to choose in a form. */
import type { TemplateDetail } from "@wac/client/internal"

/** The fields that tell templates apart. */
export const templateKey = ({ language, name }: { readonly name: string; readonly language: string }): string =>
  `${name} ${language}`

export const TemplateOption = ({ template }: { readonly template: TemplateDetail }) => (
  <option value={templateKey(template)} disabled={template.unfillable !== null}>
    {template.name} · {template.language}
    {template.unfillable === null ? "" : " (cannot be filled here)"}
  </option>
)
