/**
 * The command `templates types`: writes the templates of a workspace as a declaration for TypeScript.
 */
import { type Id, Page, type Template, TemplateDeclarations, TemplateStore } from "@wac/core"
import { Effect } from "effect"
import { Command } from "effect/cli"
import * as OperatorCommand from "./OperatorCommand.ts"
import * as WorkspaceChoice from "./WorkspaceChoice.ts"

/** Every template of a workspace. */
const all = Effect.fnUntraced(function*(workspaceId: Id.WorkspaceId) {
  const store = yield* TemplateStore.TemplateStore
  const found: Array<Template.Template> = []
  for (let after: string | null = null, isFirst = true; isFirst || after !== null; isFirst = false) {
    const page: Page.Page<Template.Template> = yield* store.list(workspaceId, {}, { limit: Page.maxLimit, after })
    found.push(...page.items)
    after = page.next
  }
  return found
})

const types = Command.make(
  "types",
  { workspace: WorkspaceChoice.flag },
  Effect.fnUntraced(function*({ workspace }) {
    const { id } = yield* WorkspaceChoice.chosen(workspace)
    const declaration = TemplateDeclarations.of(yield* all(id))
    yield* OperatorCommand.printed({ declaration }, declaration.trimEnd())
  })
).pipe(
  Command.withDescription("Write the approved templates as a TypeScript declaration, to be kept as templates.d.ts")
)

export const templates = Command.make("templates").pipe(
  Command.withDescription("The message templates of a workspace, in the storage of DATABASE_URL"),
  Command.withSubcommands([Command.provide(types, OperatorCommand.unopened)])
)
