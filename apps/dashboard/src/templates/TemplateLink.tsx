/** The name and language of a template, which link to its page if the provider still lists it. */
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { TemplateDetail } from "@wac/client/internal"
import { templateQuery } from "./Queries.ts"

export const TemplateLink = ({ language, name }: Pick<TemplateDetail, "name" | "language">) => {
  const { data: template } = useQuery(templateQuery(name, language))
  const words = `${name} · ${language}`
  return template == null
    ? words
    : <Link to="/templates/$id" params={{ id: template.id }} className="text-accent underline">{words}</Link>
}
