/** The name and language of a template, which link to its page if the provider still lists it. */
import { Link } from "@tanstack/react-router"
import type { TemplateDetail } from "@wac/client/internal"
import { useTemplate } from "./Queries.ts"

export const TemplateLink = (
  { from, language, name }: Pick<TemplateDetail, "name" | "language"> & {
    /** The number that sends it, by id or in E.164; empty for the default number. */
    readonly from: string
  }
) => {
  const template = useTemplate(name, language, from)
  const words = `${name} · ${language}`
  return template == null
    ? words
    : <Link to="/templates/$id" params={{ id: template.id }} className="text-accent underline">{words}</Link>
}
