/**
 * `npm run docs`: writes the API reference of the published packages from their docstrings, into `dist` or into the
 * folder that is given. Fails when an export has none, or when a link leads nowhere.
 */
import { join } from "node:path"
import {
  Application,
  type Context,
  Converter,
  type DeclarationReflection,
  type Reflection,
  ReflectionKind
} from "typedoc"
import ts from "typescript"
import { folders, manifestOf, root } from "../../packaging/Published.ts"

/** Each file that can be imported, and the name that it is imported by. */
const modules: ReadonlyMap<string, string> = new Map(
  [...folders].flatMap(([name, folder]) =>
    Object.entries(manifestOf(folder).exports)
      .filter(([path]) => !path.endsWith("/*"))
      .map(([path, target]) =>
        [
          join(folder, (target as { readonly source: string }).source),
          `${name}${path.slice(1)}`
        ] as const
      )
  )
)

const fileOf = (context: Context, module: Reflection): ts.SourceFile | undefined =>
  context.getSymbolFromReflection(module)?.declarations?.find(ts.isSourceFile)

/** Gives it the docstring of a module's file: what stands at its head describes the concept that it is named after. */
const describeByHead = (context: Context, reflection: Reflection, module: Reflection): void => {
  const first = fileOf(context, module)?.statements[0]
  const head = first === undefined ? undefined : context.getNodeComment(first, false)
  if (head !== undefined) reflection.comment ??= head
}

/** Names modules as they are imported; a file's head also speaks for its main concept, and for the layer of that. */
const describe = (context: Context, reflection: DeclarationReflection): void => {
  const { parent } = reflection
  if (reflection.kindOf(ReflectionKind.SomeModule)) {
    reflection.name = modules.get(fileOf(context, reflection)?.fileName ?? "") ?? reflection.name
    describeByHead(context, reflection, reflection)
  } else if (parent?.kindOf(ReflectionKind.SomeModule) && [parent.name, "layer"].includes(reflection.name)) {
    describeByHead(context, reflection, parent)
  }
}

const mustSpeak = ReflectionKind.SomeModule | ReflectionKind.Class | ReflectionKind.Interface |
  ReflectionKind.TypeAlias | ReflectionKind.Variable | ReflectionKind.Function

const speaks = (reflection: Reflection): boolean =>
  reflection.hasComment() ||
  (reflection.isDeclaration() && reflection.signatures?.some((signature) => signature.hasComment()) === true)

const app = await Application.bootstrap({
  name: "wac",
  entryPoints: [...modules.keys()],
  tsconfig: join(import.meta.dirname, "tsconfig.json"),
  out: process.argv[2] ?? join(import.meta.dirname, "dist"),
  readme: join(root, "README.md"),
  basePath: root,
  disableSources: true,
  excludeExternals: true,
  validation: { notExported: false, invalidLink: true }
})
app.converter.on(Converter.EVENT_CREATE_DECLARATION, describe)
const project = await app.convert()
if (project !== undefined) {
  app.validate(project)
  const exported = project.getReflectionsByKind(mustSpeak)
  for (const silent of exported.filter((reflection) => !speaks(reflection))) {
    // a schema and its type are one
    const namesakes = exported.filter(({ name, parent }) => name === silent.name && parent === silent.parent)
    if (!namesakes.some(speaks)) app.logger.error(`${silent.getFriendlyFullName()} has no docstring`)
  }
  if (!app.logger.hasWarnings() && !app.logger.hasErrors()) await app.generateOutputs(project)
}
if (app.logger.hasWarnings() || app.logger.hasErrors()) process.exitCode = 1
