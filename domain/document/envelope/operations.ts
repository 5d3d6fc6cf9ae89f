import { echo } from '../../log/issues.ts'
import { attributeOf, type Element, isElement, type Node } from '../markup/tree.ts'

/** An operation of `ops_xml` with its original content. */
export type EnvelopeOperation = ReplaceSpans | InsertBlocks | DeleteBlocks

export interface Replacement {
  readonly spanId: string
  readonly content: readonly Node[]
}
export interface ReplaceSpans {
  readonly kind: 'replace_spans'
  readonly annotation: string | null
  readonly spans: readonly Replacement[]
}
export interface InsertBlocks {
  readonly kind: 'insert_blocks'
  readonly annotation: string | null
  /** A span id, or `start`. */
  readonly after: string
  readonly content: readonly Node[]
}
export interface DeleteBlocks {
  readonly kind: 'delete_blocks'
  readonly annotation: string | null
  readonly spanIds: readonly string[]
}

/** The value of `after` for the start of the document. */
export const START = 'start'

/** An invalid `ops_xml`. The message says what to send instead. */
export class OperationFault extends Error {}

/** The operations of a parsed `ops_xml`, in order. Throws {@link OperationFault}. */
export function readOperations(root: Element): readonly EnvelopeOperation[] {
  if (root.name !== 'ops') return [operation(root)]
  attributes(root, [])
  const operations = elementsOf(root).map(operation)
  if (operations.length === 0) throw new OperationFault('<ops> has no operation; put at least one into it')
  return operations
}

/** The ids of the spans in the operations, each once. */
export const namedSpans = (operations: readonly EnvelopeOperation[]): ReadonlySet<string> =>
  new Set(
    operations.flatMap((one) => {
      if (one.kind === 'replace_spans') return one.spans.map(({ spanId }) => spanId)
      if (one.kind === 'delete_blocks') return one.spanIds
      return one.after === START ? [] : [one.after]
    }),
  )

function operation(element: Element): EnvelopeOperation {
  const annotation = attributeOf(element, 'annotation') ?? null
  switch (element.name) {
    case 'replace_spans': {
      attributes(element, ['annotation'])
      const spans = spansOf(element).map((span) => ({ spanId: spanId(span), content: span.children }))
      return { kind: 'replace_spans', annotation, spans }
    }
    case 'insert_blocks': {
      attributes(element, ['annotation', 'after'])
      const after = attributeOf(element, 'after')
      if (!after) throw new OperationFault(`<insert_blocks> has no "after"; name a span or "${START}"`)
      return { kind: 'insert_blocks', annotation, after, content: element.children }
    }
    case 'delete_blocks': {
      attributes(element, ['annotation'])
      const spans = spansOf(element)
      if (spans.some(({ children }) => children.some((child) => isElement(child) || child.trim() !== '')))
        throw new OperationFault('a <span> in <delete_blocks> has content; leave it empty')
      return { kind: 'delete_blocks', annotation, spanIds: spans.map(spanId) }
    }
    default:
      throw new OperationFault(
        `<${echo(element.name)}> is no operation; use replace_spans, insert_blocks, delete_blocks or ops`,
      )
  }
}

function spansOf(element: Element): readonly Element[] {
  const spans = elementsOf(element)
  const other = spans.find(({ name }) => name !== 'span')
  if (other !== undefined)
    throw new OperationFault(`<${element.name}> holds <${echo(other.name)}>; it holds <span span_id="…"> only`)
  if (spans.length === 0) throw new OperationFault(`<${element.name}> names no span; put <span span_id="…"> into it`)
  return spans
}

function spanId(span: Element): string {
  attributes(span, ['span_id'])
  const id = attributeOf(span, 'span_id')
  if (!id) throw new OperationFault('a <span> of an operation has no "span_id"; name the span')
  return id
}

function elementsOf(element: Element): readonly Element[] {
  if (element.children.some((child) => !isElement(child) && child.trim() !== ''))
    throw new OperationFault(`<${element.name}> holds text outside its elements; move it into one`)
  return element.children.filter(isElement)
}

function attributes(element: Element, known: readonly string[]): void {
  const other = element.attributes.find(([name]) => !known.includes(name))
  if (other !== undefined) throw new OperationFault(`<${element.name}> has no attribute "${echo(other[0])}"; remove it`)
}
