import { parseAst } from 'rolldown/parseAst'

interface Span {
  readonly start: number
  readonly end: number
}

interface Node extends Span {
  readonly type: string
  readonly [key: string]: unknown
}

interface Part {
  /** The node in which the words must occur. */
  readonly node: Node
  /** The text to replace. Absent: the node's. */
  readonly at?: Span
  /** The text to remove when the part is dropped. Absent: the node's. */
  readonly room?: Span
  /** The first word must equal the key. Absent: the first word occurs in the node like the others. */
  readonly key?: string | null
  /** Precedes a replacement. */
  readonly before?: string
}

/** Returns the text of a file after a change of one part of a function. Throws unless exactly one part matches. */
export type Edit = (inside: Node, source: string) => string

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value
const nodes = (...values: unknown[]): Node[] => values.flat().filter(isNode)

const within = (node: Node): Node[] => [node, ...nodes(...Object.values(node)).flatMap(within)]

/** The word that a node stands for: a name, the last name of a path, or the value of a literal. */
function wordOf({ type, name, value, property }: Node): string | null {
  if (type === 'MemberExpression') return wordOf(nodes(property)[0]!)
  if (type === 'Literal') return String(value)
  if (type === 'YieldExpression') return 'yield'
  return type === 'PrivateIdentifier' ? `#${name}` : type === 'Identifier' ? String(name) : null
}

/** Members of a list, each with its comma or operator. */
const listed = (list: readonly Node[]): Part[] =>
  list.map((node, i) => {
    const [before, after] = [list[i - 1], list[i + 1]]
    return { node, room: { start: after || !before ? node.start : before.end, end: after?.start ?? node.end } }
  })

const keyed = (node: Node, name: unknown, value: unknown): Part[] =>
  nodes(name).flatMap((one) => nodes(value).map((at) => ({ node, at, key: wordOf(one) })))

/** The parts of each kind among the children of a node. */
const KINDS = {
  statement: ({ body, consequent, alternate }) =>
    nodes(body, consequent, alternate)
      .filter(({ type }) => /Statement$|Declaration$/.test(type) && type !== 'BlockStatement')
      .map((node) => ({ node })),
  /** The condition of an `if`, a loop or a `?:`. */
  condition: ({ test }) => nodes(test).map((node) => ({ node })),
  /** An operand of `&&`, `||`, `??` or of a calculation. */
  operand: ({ type, operator, left, right }) =>
    type === 'LogicalExpression' || (type === 'BinaryExpression' && /^[-+*/%]/.test(String(operator)))
      ? listed(nodes(left, right))
      : [],
  /** A member of an object, an item of a list, or an argument. */
  entry: ({ type, properties, elements, arguments: given }) =>
    /Pattern$/.test(type) ? [] : listed(nodes(properties, elements, given)),
  /** A call. Its key is the function's name. */
  call: (node) => (/^(Call|New)Expression$/.test(node.type) ? keyed(node, node.callee, node) : []),
  /** The value of a variable or a member by its name, or a returned value by the word `return`. */
  value: (node) => [
    ...keyed(node, node.type === 'VariableDeclarator' ? node.id : null, node.init),
    ...keyed(node, node.type === 'AssignmentExpression' ? node.left : null, node.right),
    ...(node.type === 'ReturnStatement' ? nodes(node.argument).map((at) => ({ node, at, key: 'return' })) : []),
    ...(node.type === 'ObjectExpression' ? nodes(node.properties) : []).flatMap(({ key, value, shorthand }) =>
      keyed(node, key, value).map((part) => ({ ...part, before: shorthand ? `${part.key}: ` : '' })),
    ),
  ],
  /** A name, a number or a whole text without spaces. */
  word: (node) => {
    const quote = typeof node.value === 'string' ? 1 : 0
    const at = { start: node.start + quote, end: node.end - quote }
    return /^(Private)?Identifier$|^Literal$/.test(node.type) ? [{ node, at, key: wordOf(node) }] : []
  },
  operator: (node, source) =>
    nodes(node.left).flatMap(({ end }) => {
      const key = String(node.operator)
      const start = source.indexOf(key, end)
      return [{ node, key, at: { start, end: start + key.length } }]
    }),
} satisfies Record<string, (node: Node, source: string) => Part[]>

type Kind = keyof typeof KINDS

const put = (source: string, { start, end }: Span, text: string) => source.slice(0, start) + text + source.slice(end)

function only<T>(found: readonly T[], what: string): T {
  if (found.length !== 1) throw new Error(`expected one ${what}, found ${found.length}`)
  return found[0]!
}

const covers = (outer: Span, inner: Span) => outer.start <= inner.start && inner.end <= outer.end

/** The innermost part of the kind in which all words occur. */
function partOf(kind: Kind, words: string, inside: Node, source: string): Part {
  const [first, ...others] = words.split(' ')
  const all = within(inside)
  const uses = all.filter((node) => [first, ...others].includes(wordOf(node) ?? undefined))
  const isIn = (node: Node, word: string) => uses.some((use) => wordOf(use) === word && covers(node, use))
  const parts = all
    .flatMap((node): Part[] => KINDS[kind](node, source))
    .filter(({ key, node }) => (key === undefined ? isIn(node, first!) : key === first))
    .filter(({ node }) => others.every((word) => isIn(node, word)))
  const innermost = parts.filter(({ node }) =>
    parts.every((other) => !covers(node, other.node) || covers(other.node, node)),
  )
  return only(innermost, `${kind} with "${words}"`)
}

/**
 * Replaces a part, named by words that occur in it. In `to`, `$` is the replaced text, `$1` the first argument of a
 * call and `$0` the object of a method call.
 */
export const replace =
  (kind: Kind, words: string, to: string): Edit =>
  (inside, source) => {
    const { node, at = node, before = '' } = partOf(kind, words, inside, source)
    const [callee] = nodes(node.callee)
    const parts = [nodes(callee?.object)[0], ...nodes(node.arguments)]
    const text = to.replaceAll(/\$(\d?)/g, (_, n) => {
      const { start, end } = n === '' ? at : parts[Number(n)]!
      return source.slice(start, end)
    })
    return put(source, at, before + text)
  }

/** Removes a part, named by words that occur in it. */
export const drop =
  (kind: 'statement' | 'operand' | 'entry', words: string): Edit =>
  (inside, source) => {
    const { node, room = node } = partOf(kind, words, inside, source)
    return put(source, room, kind === 'statement' ? ';' : '')
  }

/** Replaces a piece of a text, such as a column in SQL. */
export const reworded =
  (from: string, to: string): Edit =>
  (inside, source) => {
    const found = within(inside).flatMap(({ type, value, start, end }) => {
      const at = source.slice(start, end).indexOf(from)
      return at >= 0 && (type === 'TemplateElement' || typeof value === 'string') ? [start + at] : []
    })
    const start = only(found, `text "${from}"`)
    return put(source, { start, end: start + from.length }, to)
  }

/** Replaces the body of a function, or the value of a constant. */
export const returns =
  (to: string): Edit =>
  (inside, source) => {
    const [made = inside] = nodes(inside.init, inside.value)
    const [body = made] = nodes(made.body)
    return put(source, body, body.type === 'BlockStatement' ? `{ return ${to} }` : to)
  }

/** Functions, methods, classes, constants and cases by path: `.Class.method`, `.function:case`. */
function* namedParts(node: Node, path = ''): Generator<readonly [string, Node]> {
  for (const child of nodes(...Object.values(node))) {
    const { type, id, key, test, init, value } = child
    const [made] = nodes(init, value)
    const isNamed =
      /^(Function|Class)Declaration$|^(Method|Property)Definition$|^SwitchCase$/.test(type) ||
      (/^(VariableDeclarator|Property)$/.test(type) && made && (path === '' || /Function/.test(made.type)))
    const [name] = isNamed ? nodes(id, key, test) : []
    const own = name ? `${path}${type === 'SwitchCase' ? ':' : '.'}${wordOf(name)}` : path
    if (name) yield [own, child]
    yield* namedParts(child, own)
  }
}

/**
 * Returns the text of a file after the edit of the function, method or constant of that name. A name that occurs twice
 * needs the class or function around it: `Class.method`. A case of a `switch` is `function:case`.
 */
export function edited(file: string, source: string, name: string, edit: Edit): string {
  const parse = (text: string) => ({ ...parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }) })
  const named = [...namedParts(parse(source))].filter(([path]) => path.endsWith(`.${name}`))
  if (named.length !== 1)
    throw new Error(
      `${file} has ${named.length} functions ${name}; write into the row ${named.length ? `Class.${name}` : 'its new name'}`,
    )
  try {
    const text = edit(named[0]![1], source)
    parse(text)
    return text
  } catch (error) {
    throw new Error(`${name} in ${file}: ${(error as Error).message}; adapt the edit in the row`, { cause: error })
  }
}
