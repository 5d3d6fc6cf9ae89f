import { documentTools } from '../../../adapters/loro/tools/document-tools.ts'
import type { ListedDocument } from '../../../adapters/loro/tools/list-documents.ts'
import { contentFrom } from '../../../api/operations/document/content.ts'
import type { ToolError } from '../../../domain/calls/errors.ts'
import type { DocumentGateway } from '../../../domain/document/runtime/gateway.ts'
import type { Clock, ToolContext } from '../../../domain/ports/index.ts'

/** A clock that does not wait and records the requested delays. */
export class Waits implements Clock {
  readonly waits: number[] = []
  now = () => 0
  async sleep(ms: number): Promise<void> {
    this.waits.push(ms)
  }
}

interface ReadContent {
  readonly doc_frontier: string
  readonly blocks: readonly { readonly span_id: string; readonly hash: string; readonly content: string }[]
  readonly next?: string
}

/** The document tools in an agent's calls, and the documents for `list_documents`. */
export class ToolDesk {
  readonly clock = new Waits()
  readonly listed: ListedDocument[] = []
  readonly #gateway: DocumentGateway

  constructor(gateway: DocumentGateway) {
    this.#gateway = gateway
  }

  /** Performs a call. `id`: the call's id; `agent.call` also names the agent. */
  async call(name: string, id: string, args: object, more: Partial<ToolContext> = {}) {
    const list = async () => ({ documents: this.listed, next: null })
    const ports = { gateway: this.#gateway, clock: this.clock, list, parse: contentFrom }
    const tool = documentTools(ports).find(({ spec }) => spec.name === name)!
    const context = {
      ...{ runId: 'run1', agentId: id.split('.')[0]!, toolCallId: id, attempt: 1 },
      ...{ signal: new AbortController().signal, workspace: null, sandbox: null },
    }
    return tool.run(args as never, { ...context, ...more })
  }

  async read(doc_id: string, more: object = {}): Promise<ReadContent> {
    return (await this.call('read_document', 'reader.c', { doc_id, ...more })).content as never
  }

  /** Arguments of an edit that replaces the current block. */
  async replacement(doc_id: string, text: string, at = 0) {
    const { doc_frontier, blocks } = await this.read(doc_id)
    const { span_id, hash } = blocks[at]!
    const ops_xml = `<replace_spans annotation="why"><span span_id="${span_id}">${text}</span></replace_spans>`
    return { doc_id, doc_frontier, ops_xml, preconditions: [{ span_id, if_match_context_hash: hash }] }
  }

  edit(id: string, args: object, more: Partial<ToolContext> = {}) {
    return this.call('edit_document', id, args, more)
  }

  /** The failure of an edit, with the data in its message. */
  async failed(id: string, args: object, more: Partial<ToolContext> = {}) {
    const error = await this.edit(id, args, more).then(
      () => {
        throw new Error('the edit was applied')
      },
      (failure: ToolError) => failure,
    )
    const [, given] = error.message.split('\n')
    return { code: error.code, message: error.message, given: given === undefined ? null : JSON.parse(given) }
  }
}
