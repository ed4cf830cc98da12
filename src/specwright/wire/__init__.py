"""Agent Wire v1.1: the typed, replayable event protocol. Imports without the factory (W-7-07).

    envelope   build a Wire                    tables      the contracts, indexed
    canonical  bytes in, bytes out (D30)       validation  the JSON Schemas
    admission  the one set of rules (D31)      content     no credentials
    reducer    ordered Wires -> state          stream, ledger   what is remembered meanwhile
    documents  Wires in files                  diagram     the state machine, drawn
    a2a, a2a_documents                         the same log as A2A 1.0 sees it

Everything is pure: the tables and schemas are passed in; `specwright.wire.data` alone reads the files that ship.
"""
