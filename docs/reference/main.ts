/**
 * `npm run docs`: writes the API reference of the published packages from their docstrings, into `dist` or into the
 * folder that is given; with `--check` it writes nothing. Fails when an export has none, or when a link leads nowhere.
 */
import { join } from "node:path"
import { parseArgs } from "node:util"
import {
  Application,
  Comment,
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

const textOf = (node: ts.Expression): string | undefined => {
  if (ts.isStringLiteralLike(node)) return node.text
  if (!ts.isBinaryExpression(node)) return undefined
  const [left, right] = [textOf(node.left), textOf(node.right)]
  return left === undefined || right === undefined ? undefined : left + right
}

/** What a schema says of itself: the `description` of the annotations that were added last. */
const descriptionIn = (node: ts.Expression): string | undefined => {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined
  const { text: name } = node.expression.name
  if (name === "pipe") {
    const description = node.arguments.map(descriptionIn).findLast((description) => description !== undefined)
    if (description !== undefined) return description
  }
  const [annotations] = node.arguments
  if (/^annotate(?:Encoded)?$/.test(name) && annotations !== undefined && ts.isObjectLiteralExpression(annotations)) {
    const property = annotations.properties.find((property) => property.name?.getText() === "description")
    if (property !== undefined && ts.isPropertyAssignment(property)) return textOf(property.initializer)
  }
  return descriptionIn(node.expression.expression)
}

/** Gives a schema the description that it has for all who read its types. */
const describeBySchema = (context: Context, reflection: DeclarationReflection): void => {
  const declaration = context.getSymbolFromReflection(reflection)?.declarations?.find(ts.isVariableDeclaration)
  const description = declaration?.initializer === undefined ? undefined : descriptionIn(declaration.initializer)
  if (description !== undefined) reflection.comment ??= new Comment([{ kind: "text", text: description }])
}

/** Names modules as they are imported; a file's head also speaks for its main concept, and for the layer of that. */
const describe = (context: Context, reflection: DeclarationReflection): void => {
  const { parent } = reflection
  if (reflection.kindOf(ReflectionKind.SomeModule)) {
    reflection.name = modules.get(fileOf(context, reflection)?.fileName ?? "") ?? reflection.name
    describeByHead(context, reflection, reflection)
  } else if (parent?.kindOf(ReflectionKind.SomeModule) && [parent.name, "layer"].includes(reflection.name)) {
    describeByHead(context, reflection, parent)
  } else if (reflection.kindOf(ReflectionKind.Variable)) {
    describeBySchema(context, reflection)
  }
}

const mustSpeak = ReflectionKind.SomeModule | ReflectionKind.Class | ReflectionKind.Interface |
  ReflectionKind.TypeAlias | ReflectionKind.Variable | ReflectionKind.Function

const speaks = (reflection: Reflection): boolean =>
  reflection.hasComment() ||
  (reflection.isDeclaration() && reflection.signatures?.some((signature) => signature.hasComment()) === true)

const { positionals: [folder], values: { check } } = parseArgs({
  options: { check: { type: "boolean" } },
  allowPositionals: true
})

const app = await Application.bootstrap({
  name: "wac",
  entryPoints: [...modules.keys()],
  tsconfig: join(import.meta.dirname, "tsconfig.json"),
  out: folder ?? join(import.meta.dirname, "dist"),
  readme: join(root, "README.md"),
  basePath: root,
  disableSources: true,
  // `npm run check` has checked the types
  skipErrorChecking: true,
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
  if (check !== true && !app.logger.hasWarnings() && !app.logger.hasErrors()) await app.generateOutputs(project)
}
if (app.logger.hasWarnings() || app.logger.hasErrors()) process.exitCode = 1
