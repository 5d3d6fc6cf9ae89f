import { type ContentBlock, RequestError } from '@agentclientprotocol/sdk'

/**
 * The text of an ACP prompt: the text of its blocks in order. A link becomes its name and URI, and the agent reads it
 * itself. The text of an embedded resource follows its name. Throws on images, audio and prompts without text.
 */
export function promptText(blocks: readonly ContentBlock[]): string {
  const text = blocks.map(blockText).join('\n').trim()
  if (text === '') throw RequestError.invalidParams(undefined, 'the prompt has no text; say what is to be done')
  return text
}

function blockText(block: ContentBlock): string {
  if (block.type === 'text') return block.text
  if (block.type === 'resource_link') return `[${block.name}](${block.uri})`
  if (block.type === 'resource' && 'text' in block.resource)
    return `\n${block.resource.uri}:\n\`\`\`\n${block.resource.text}\n\`\`\`\n`
  throw RequestError.invalidParams(undefined, `a prompt here takes text, links and embedded text, not "${block.type}"`)
}
