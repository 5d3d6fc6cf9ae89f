import { SaxesParser } from 'saxes'
import { echo } from '../../../domain/log/issues.ts'
import type { MarkupParser } from '../../../domain/ports/index.ts'
import { BeyondLimit, TreeBuilder } from './tree-builder.ts'

/** Parses XML with saxes, which knows only the five entities of XML and reads no DTD. */
export const parseXml: MarkupParser = (xml, limits) => {
  const tree = new TreeBuilder(limits)
  const parser = new SaxesParser({ xmlns: false })
  parser.on('error', refuse)
  parser.on('doctype', () => {
    throw new BeyondLimit('has a document type; remove <!DOCTYPE>')
  })
  parser.on('opentagstart', ({ name }) => tree.open(name))
  parser.on('attribute', ({ name, value }) => tree.attribute(name, value))
  parser.on('closetag', () => tree.close())
  parser.on('text', (text) => tree.text(text))
  parser.on('cdata', (text) => tree.text(text))
  try {
    parser.write(xml).close()
    return { kind: 'tree', root: tree.root() }
  } catch (error) {
    const { message } = error as Error
    if (error instanceof BeyondLimit) return { kind: 'limits', message }
    return { kind: 'malformed', message: `is not well-formed XML (${echo(message)}); correct it` }
  }
}

/** The parser names the place, then the fault. */
function refuse(fault: Error): never {
  if (fault.message.endsWith('undefined entity.'))
    throw new BeyondLimit('has an entity beyond amp, lt, gt, quot and apos; write the character itself')
  throw fault
}
