"""What the pages share: services, the address, the frame, signs, and text shown as text."""
