"""What Ctrl-C means to a verb: known before anything else is loaded."""

EXIT_INTERRUPTED = 130
# they end no other way, so that Ctrl-C is no failure of theirs
UNTIL_STOPPED = ("serve", "mcp")


def code_of_interrupt(arguments: list[str]) -> int:
    """The exit code of Ctrl-C, or of a signal to end, at whatever moment it came."""
    return 0 if arguments[:1] and arguments[0] in UNTIL_STOPPED else EXIT_INTERRUPTED
