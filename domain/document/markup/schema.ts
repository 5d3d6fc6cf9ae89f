import { echo } from '../../log/issues.ts'
import { type BlockContent, contentFault } from '../model/block.ts'
import type { Canonical } from './canonical.ts'

/** The blocks of a canonical tree. `fault`: the first part outside the document model. */
export function schemaChecked(content: Canonical): {
  readonly blocks: readonly BlockContent[]
  readonly fault: string | null
} {
  const blocks: BlockContent[] = []
  let fault: string | null = null
  for (const node of content) {
    const own = faultOf(node)
    fault ??= own
    if (own === null && node.type !== 'misplaced') blocks.push(node)
  }
  return { blocks, fault }
}

function faultOf(node: Canonical[number]): string | null {
  if (node.type === 'misplaced')
    return `<${echo(node.what)}> within ${node.within} is not part of a document; move it or leave it out`
  const fault = contentFault(node)
  return fault === null ? null : `a block lies outside the document model: ${fault}`
}
